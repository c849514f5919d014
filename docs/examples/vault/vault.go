// SPDX-License-Identifier: Apache-2.0

// Package vault is a complete provider: HashiCorp Vault's JWT login, with the pod's own token instead of a Vault token.
package vault

import (
	"net/url"

	"github.com/runner-identity/runner-identity/identity"
)

// tokenFile is where pods find the token that they log in to Vault with.
const tokenFile = identity.Dir + "/vault/token"

// Provider plans a login to Vault. The zero Provider is ready.
type Provider struct{}

var (
	_ identity.Provider  = Provider{}
	_ identity.Validator = Provider{}
)

// settings are what users write below identity.parameters.
type settings struct {
	Address string `json:"address"`
	Role    string `json:"role"`
}

// Name is what users write as identityProvider, or an admin as plugin.
func (Provider) Name() string { return "vault" }

// Validate says what is wrong with the settings: field, value, and what would be right.
func (Provider) Validate(r identity.Request) []identity.Problem {
	var s settings
	if err := r.Settings.Decode(&s); err != nil {
		return []identity.Problem{{Field: "parameters", Message: err.Error()}}
	}
	var problems []identity.Problem
	if u, err := url.Parse(s.Address); err != nil || u.Scheme != "https" || u.Host == "" {
		problems = append(problems, identity.Problem{Field: "parameters.address", Message: "\"" + s.Address + "\" is not an https URL, such as https://vault.example.com"})
	}
	if s.Role == "" {
		problems = append(problems, identity.Problem{Field: "parameters.role", Message: "is empty; name a role of the auth method jwt"})
	}
	return problems
}

// Plan gives pods a token that only Vault takes, and says where it is.
func (p Provider) Plan(r identity.Request) (identity.Plan, error) {
	if err := identity.Problems(p.Validate(r)); err != nil {
		return identity.Plan{}, err
	}
	var s settings
	if err := r.Settings.Decode(&s); err != nil {
		return identity.Plan{}, err
	}
	return identity.Plan{
		Principal: s.Role,
		Tokens:    []identity.Token{{Path: tokenFile, Audience: s.Address, Lifetime: identity.MinTokenLifetime, For: r.Targets}},
		Env: []identity.Env{
			{Name: "VAULT_ADDR", Value: s.Address, For: r.Targets},
			{Name: "VAULT_ROLE", Value: s.Role, For: r.Targets},
			{Name: "VAULT_JWT_FILE", Value: tokenFile, For: r.Targets},
		},
	}, nil
}
