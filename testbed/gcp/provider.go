// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// maxSubject is the longest google.subject.
const maxSubject = 127

type provider struct {
	Provider
	keys *sim.Keys
}

// A proof is what a ServiceAccount token proved.
type proof struct {
	namespace, account string
	expires            time.Time
}

// provider finds the provider that an audience names.
func (s *Server) provider(audience string) (*provider, error) {
	name, pooled := strings.CutPrefix(audience, "//iam.googleapis.com/")
	pool := ""
	if !pooled {
		var ok bool
		pool, name, ok = strings.Cut(strings.TrimPrefix(audience, "identitynamespace:"), ":")
		if !ok || !strings.HasPrefix(audience, "identitynamespace:") {
			return nil, oauthError("invalid_request", wrongAudienceForm)
		}
	} else if !poolName.MatchString(name) {
		return nil, oauthError("invalid_request", wrongAudienceForm)
	}
	i := slices.IndexFunc(s.providers, func(p *provider) bool { return p.Name == name && p.Pool == pool && !p.Disabled })
	switch {
	case i >= 0:
		return s.providers[i], nil
	case pooled:
		return nil, oauthError("invalid_target", noTarget)
	}
	return nil, refuse(http.StatusNotFound, "NOT_FOUND", "Requested entity was not found.")
}

// verify checks a token in the order in which STS does: form, issuer, signature, audience, time, condition.
func (p *provider) verify(c *call, raw string) (proof, error) {
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil || len(parsed.Headers) != 1 {
		return proof{}, oauthError("invalid_grant", notJWT)
	}
	var claimed jwt.Claims
	if err := parsed.UnsafeClaimsWithoutVerification(&claimed); err != nil {
		return proof{}, oauthError("invalid_grant", notJWT)
	}
	if claimed.Issuer != p.Issuer {
		return proof{}, oauthError("invalid_grant", "The issuer in ID Token %s does not match the expected ones: %s", claimed.Issuer, p.Issuer)
	}
	var claims jwt.Claims
	if err := p.keys.Verify(c.http.Context(), parsed, &claims); errors.Is(err, sim.ErrNoKey) || errors.Is(err, sim.ErrSignature) {
		return proof{}, oauthError("invalid_grant", notSigned)
	} else if err != nil {
		c.why = err.Error()
		return proof{}, oauthError("invalid_grant", noKeys)
	}
	return p.check(c, claims)
}

func (p *provider) check(c *call, claims jwt.Claims) (proof, error) {
	if !overlap(p.audiences(), claims.Audience) {
		return proof{}, oauthError("invalid_grant", "The audience in ID Token %v does not match the expected audience %s.", []string(claims.Audience), p.audiences()[0])
	}
	if claims.Expiry == nil || claims.IssuedAt == nil || !c.now.Before(claims.Expiry.Time()) {
		return proof{}, oauthError("invalid_grant", "ID Token issued at %d is stale to sign-in.", claims.IssuedAt.Time().Unix())
	}
	rest, ok := strings.CutPrefix(claims.Subject, "system:serviceaccount:")
	namespace, account, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 {
		return proof{}, oauthError("invalid_grant", "The subject %q is not one of a ServiceAccount.", claims.Subject)
	}
	made := proof{namespace: namespace, account: account, expires: claims.Expiry.Time()}
	switch {
	case len(p.subject(made)) > maxSubject:
		return proof{}, oauthError("invalid_request", longSubject)
	case len(p.Namespaces) > 0 && !slices.Contains(p.Namespaces, namespace):
		return proof{}, oauthError("unauthorized_client", rejected)
	}
	return made, nil
}

func (p *provider) audiences() []string {
	switch {
	case len(p.Audiences) > 0:
		return p.Audiences
	case p.Pool != "":
		return []string{p.Pool}
	}
	return []string{"https://iam.googleapis.com/" + p.Name, "//iam.googleapis.com/" + p.Name}
}

func (p *provider) subject(of proof) string {
	if p.Pool != "" {
		return "ns/" + of.namespace + "/sa/" + of.account
	}
	return "system:serviceaccount:" + of.namespace + ":" + of.account
}

// pool is the name of the pool, as principals have it.
func (p *provider) pool() string {
	project, pool := p.ProjectNumber, p.Pool
	if m := poolName.FindStringSubmatch(p.Name); m != nil {
		project, pool = m[1], m[2]
	}
	return "//iam.googleapis.com/projects/" + project + "/locations/global/workloadIdentityPools/" + pool
}

func (p *provider) principal(of proof) string {
	return "principal:" + p.pool() + "/subject/" + p.subject(of)
}

// members are all the ways in which an IAM policy can write the principal.
func (p *provider) members(of proof) []string {
	set := "principalSet:" + p.pool()
	if p.Pool == "" {
		return []string{p.principal(of), set + "/attribute.namespace/" + of.namespace, set + "/*"}
	}
	return []string{
		p.principal(of), set + "/namespace/" + of.namespace, set + "/kubernetes.cluster/" + p.Name,
		"serviceAccount:" + p.Pool + "[" + of.namespace + "/" + of.account + "]",
	}
}
