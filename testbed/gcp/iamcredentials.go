// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

const (
	permissionAccess = "iam.serviceAccounts.getAccessToken"
	longestExtended  = 12 * time.Hour
)

// generateAccessToken lets a federated principal be a Google service account.
func (s *Server) generateAccessToken(c *call) (any, error) {
	email, ok := strings.CutSuffix(c.http.PathValue("account"), ":generateAccessToken")
	if !ok {
		return nil, refuse(http.StatusNotFound, "NOT_FOUND", "Requested entity was not found.")
	}
	caller, err := s.bearer(c)
	if err != nil {
		return nil, err
	}
	var body struct {
		Lifetime  string   `json:"lifetime"`
		Scope     []string `json:"scope"`
		Delegates []string `json:"delegates"`
	}
	if err := json.Unmarshal(c.body, &body); err != nil || len(body.Scope) == 0 {
		return nil, refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Request contains an invalid argument.")
	}
	if len(body.Delegates) > 0 {
		// To take them and not to check them would let through what Google refuses.
		return nil, refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "delegates: this simulator does not know delegation chains")
	}
	made, err := s.impersonate(c, caller, email, body.Lifetime)
	if err != nil {
		return nil, err
	}
	return map[string]string{"accessToken": s.issue(made), "expireTime": made.expires.UTC().Format(time.RFC3339)}, nil
}

// impersonate makes a Google service account's token for a caller that it lets in.
func (s *Server) impersonate(c *call, caller token, email, lifetime string) (token, error) {
	c.who = email
	account, ok := s.config.ServiceAccounts[email]
	if !ok || !overlap(account.WorkloadIdentityUsers, caller.members) {
		// One answer for both: Google does not say which accounts exist.
		c.why = "no binding for " + caller.who
		return token{}, denied(permissionAccess, noAccessToken)
	}
	life := longest
	if lifetime != "" {
		var err error
		if life, err = time.ParseDuration(lifetime); err != nil || life <= 0 {
			return token{}, refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid value at 'lifetime': %s", lifetime)
		}
	}
	if life > longestExtended || life > longest && !account.ExtendedLifetime {
		return token{}, refuse(http.StatusBadRequest, "INVALID_ARGUMENT", longLifetime)
	}
	if most := s.lifetimes().Account; most != 0 {
		life = min(life, most)
	}
	return token{
		who: email, account: email, members: []string{"serviceAccount:" + email},
		expires: c.now.Add(life).Truncate(time.Second),
	}, nil
}
