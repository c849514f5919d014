// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.RegistryLogin = (*Provider)(nil)

// Serves reports whether host is a bare host of ECR or ECR Public.
func (*Provider) Serves(host string) bool {
	_, ok := parseBareRegistry(host)
	return ok
}

// Login trades the token for a session of the principal, and that for a registry login. It expires when ECR says so.
func (p *Provider) Login(ctx context.Context, host string, token identity.Secret, r identity.Request) (identity.Credential, error) {
	e, err := exchangeOf(token, r)
	if err != nil {
		return identity.Credential{}, err
	}
	reg, ok := parseBareRegistry(host)
	if !ok {
		return identity.Credential{}, identity.Errorf(identity.Invalid, "registries: %s", notARegistry(host))
	}
	if err := identity.Problems(e.validateHost(reg)); err != nil {
		return identity.Credential{}, err
	}
	keys, err := p.session(ctx, e)
	if err != nil {
		return identity.Credential{}, err
	}
	return p.authorize(ctx, e, reg, keys)
}

// authorize asks ECR for a login with the keys of a session.
func (p *Provider) authorize(ctx context.Context, e exchange, reg registry, keys sdk.Credentials) (identity.Credential, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ask := p.askPrivate
	if reg.public {
		ask = p.askPublic
	}
	a, err := ask(ctx, e.settings, reg, fixed(keys))
	if err != nil {
		f := failureOf(err, e.token, identity.NewSecret(keys.SessionToken), identity.NewSecret(keys.SecretAccessKey))
		if slices.Contains(staleCodes(), f.Code) {
			// The session may be the reason: the next login makes a new one.
			p.sessions.Drop(e.key())
		}
		return identity.Credential{}, e.loginRefused(f, reg)
	}
	cred, err := a.credential(p.clock.Now())
	if err != nil {
		return identity.Credential{}, identity.Errorf(identity.Unreachable, "ecr for %s: %w", reg.host, err)
	}
	return cred, nil
}

// An authorization is what both kinds of ECR answer.
type authorization struct {
	token   *string
	expires *time.Time
}

// credential takes an authorization apart: base64 of user:password, of any length. The password may have colons in it.
func (a authorization) credential(now time.Time) (identity.Credential, error) {
	if a.token == nil || a.expires == nil {
		return identity.Credential{}, fmt.Errorf("the answer lacks the login or its expiry")
	}
	if !a.expires.After(now) {
		return identity.Credential{}, fmt.Errorf("the login ended at %s already: check this machine's clock", a.expires.UTC().Format(time.RFC3339))
	}
	b, err := base64.StdEncoding.DecodeString(*a.token)
	if err != nil {
		return identity.Credential{}, fmt.Errorf("the login is not base64")
	}
	user, password, ok := strings.Cut(string(b), ":")
	if !ok || user == "" || password == "" {
		return identity.Credential{}, fmt.Errorf("the login is not a user name and a password")
	}
	return identity.Credential{Username: user, Password: identity.NewSecret(password), Expires: *a.expires}, nil
}
