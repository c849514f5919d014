// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"

	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.Prober = (*Provider)(nil)

// The links of the chain from a token to the cloud.
const (
	linkToken    = "token"
	linkIssuer   = "issuer"
	linkSTS      = "sts"
	linkRegistry = "registry"
)

// Probe walks token, issuer, STS and the first registry, and stops at what is broken. The issuer is looked at from here, and
// AWS looks at it from the internet: that it cannot be reached from here breaks nothing, that it answers wrongly does.
func (p *Provider) Probe(ctx context.Context, token identity.Secret, r identity.Request) ([]identity.Link, error) {
	e, err := exchangeOf(token, r)
	if err != nil {
		return nil, err
	}
	claims, err := e.claims()
	steps := []identity.Step{
		{Name: linkToken, Look: func() (string, error) {
			if err != nil {
				return "", err
			}
			return e.checkClaims(claims, p.clock.Now())
		}},
		{Name: linkIssuer, Look: func() (string, error) { return p.checkIssuer(ctx, claims) }},
		{Name: linkSTS, Look: func() (string, error) { return p.checkSTS(ctx, e) }},
	}
	if len(e.hosts) > 0 {
		steps = append(steps, identity.Step{Name: linkRegistry, Look: func() (string, error) { return p.checkRegistry(ctx, e) }})
	}
	return identity.Walk(steps...)
}

func (p *Provider) checkSTS(ctx context.Context, e exchange) (string, error) {
	if _, err := p.session(ctx, e); err != nil {
		return "", err
	}
	principal, _ := e.principal()
	return fmt.Sprintf("sts in %s gave a session of %s", e.Region, principal.arn), nil
}

func (p *Provider) checkRegistry(ctx context.Context, e exchange) (string, error) {
	host := e.hosts[0].host
	if _, err := p.Login(ctx, host, e.token, e.request); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s gave a login", host), nil
}
