// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"mime"
	"net/url"
	"strings"
	"time"
)

const (
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	typeAccess    = "urn:ietf:params:oauth:token-type:access_token"
	typeJWT       = "urn:ietf:params:oauth:token-type:jwt"
	typeIDToken   = "urn:ietf:params:oauth:token-type:id_token"
)

// tokenRequest is STS's request, which clients send as a form or as JSON, with names in snake_case or in camelCase.
type tokenRequest struct {
	grantType, audience, requestedType, subjectToken, subjectType, scope string
}

type tokenReply struct {
	AccessToken string `json:"access_token"`
	IssuedType  string `json:"issued_token_type"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
}

// token trades a ServiceAccount token for a federated access token.
func (s *Server) token(c *call) (any, error) {
	r, err := c.tokenRequest()
	if err != nil {
		return nil, err
	}
	c.who = r.audience
	if err := r.validate(); err != nil {
		return nil, err
	}
	made, err := s.exchange(c, r.audience, r.subjectToken)
	if err != nil {
		return nil, err
	}
	return tokenReply{AccessToken: s.issue(made), IssuedType: typeAccess, TokenType: "Bearer", ExpiresIn: int(made.expires.Sub(c.now) / time.Second)}, nil
}

// exchange checks a ServiceAccount token and makes the federated principal of it.
func (s *Server) exchange(c *call, audience, raw string) (token, error) {
	p, err := s.provider(audience)
	if err != nil {
		return token{}, err
	}
	proof, err := p.verify(c, raw)
	if err != nil {
		return token{}, err
	}
	c.who = p.principal(proof)
	life := min(s.lifetimes().Federated, proof.expires.Sub(c.now)).Truncate(time.Second)
	return token{who: p.principal(proof), members: p.members(proof), expires: c.now.Add(life)}, nil
}

func (c *call) tokenRequest() (tokenRequest, error) {
	kind, _, _ := mime.ParseMediaType(c.http.Header.Get("Content-Type"))
	values := map[string]string{}
	if kind == "application/json" {
		var fields map[string]any
		if json.Unmarshal(c.body, &fields) != nil {
			return tokenRequest{}, oauthError("invalid_request", "Invalid JSON payload received.")
		}
		for k, v := range fields {
			if text, ok := v.(string); ok {
				values[snake(k)] = text
			}
		}
	} else {
		form, err := url.ParseQuery(string(c.body))
		if err != nil {
			return tokenRequest{}, oauthError("invalid_request", "Invalid form.")
		}
		for k := range form {
			values[snake(k)] = form.Get(k)
		}
	}
	return tokenRequest{
		grantType: values["grant_type"], audience: values["audience"], requestedType: values["requested_token_type"],
		subjectToken: values["subject_token"], subjectType: values["subject_token_type"], scope: values["scope"],
	}, nil
}

// snake turns grantType into grant_type.
func snake(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (r tokenRequest) validate() error {
	switch {
	case r.grantType != grantExchange:
		return oauthError("unsupported_grant_type", "Invalid \"grant_type\": %s", r.grantType)
	case r.requestedType != typeAccess:
		return oauthError("invalid_request", "Invalid \"requested_token_type\": %s", r.requestedType)
	case r.subjectType != typeJWT && r.subjectType != typeIDToken:
		return oauthError("invalid_request", "Invalid \"subject_token_type\": %s", r.subjectType)
	case r.scope == "":
		return oauthError("invalid_scope", "\"scope\" is required.")
	case r.subjectToken == "":
		return oauthError("invalid_request", "\"subject_token\" is required.")
	}
	return nil
}

// introspect tells gcloud whose a token is.
func (s *Server) introspect(c *call) (any, error) {
	form, err := url.ParseQuery(string(c.body))
	if err != nil {
		return nil, oauthError("invalid_request", "Invalid form.")
	}
	t, err := s.lookup(form.Get("token"), c.now)
	c.who = t.who
	reply := map[string]any{"active": err == nil}
	if err == nil {
		reply["username"], reply["exp"], reply["iss"] = t.who, t.expires.Unix(), "https://sts.googleapis.com/"
	}
	return reply, nil
}
