// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"

	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.RegistryLogin = (*Provider)(nil)

// loginUser is the user name that goes with an access token.
const loginUser = "oauth2accesstoken"

// Serves reports whether host is a bare host of Artifact Registry or of what Container Registry left behind.
func (*Provider) Serves(host string) bool {
	_, ok := parseRegistry(host)
	return ok
}

// Login trades the token for an access token, which is the password at every registry of Google. It ends when Google says so:
// without a Google service account never later than the token that was traded.
func (p *Provider) Login(ctx context.Context, host string, token identity.Secret, r identity.Request) (identity.Credential, error) {
	e, err := exchangeOf(token, r)
	if err != nil {
		return identity.Credential{}, err
	}
	if _, ok := parseRegistry(host); !ok {
		return identity.Credential{}, identity.Errorf(identity.Invalid, "registries: %s", notARegistry(host))
	}
	t, err := p.access(ctx, e)
	if err != nil {
		return identity.Credential{}, err
	}
	return identity.Credential{Username: loginUser, Password: t.value, Expires: t.expires}, nil
}
