// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.Prober = (*Provider)(nil)

const linkToken = "token"

// Probe walks token, STS, the Google service account and each repository, and stops at what is broken.
func (p *Provider) Probe(ctx context.Context, token identity.Secret, r identity.Request) ([]identity.Link, error) {
	e, err := exchangeOf(token, r)
	if err != nil {
		return nil, err
	}
	detail, err := e.checkClaims(p.clock.Now())
	links := []identity.Link{link(linkToken, detail, err)}
	if err != nil {
		return links, err
	}
	traded, err := p.checkTrade(ctx, e)
	links = append(links, traded...)
	if err != nil {
		return links, err
	}
	for _, repo := range e.repositories {
		detail, err := p.checkRepository(ctx, e, repo)
		links = append(links, link(stepRepository, detail, err))
		if err != nil {
			return links, err
		}
	}
	return links, nil
}

// checkTrade is one exchange seen as one or two links: a Google service account that refuses is proof that STS did not.
func (p *Provider) checkTrade(ctx context.Context, e exchange) ([]identity.Link, error) {
	t, err := p.access(ctx, e)
	took := identity.Link{Name: stepSTS, OK: true, Detail: fmt.Sprintf("%s vouches for %s", e.provider.name, e.provider.subject(e.request.Namespace, e.request.Exchange()))}
	if refusedAt(err) == stepImpersonation {
		return []identity.Link{took, link(stepImpersonation, "", err)}, err
	}
	if err != nil {
		return []identity.Link{link(stepSTS, "", err)}, err
	}
	until := t.expires.UTC().Format(time.RFC3339)
	if e.direct() {
		took.Detail += ", until " + until
		return []identity.Link{took}, nil
	}
	return []identity.Link{took, link(stepImpersonation, fmt.Sprintf("%s lets the ServiceAccount in, until %s", e.account.email, until), nil)}, nil
}

func link(name, detail string, err error) identity.Link {
	if err != nil {
		return identity.Link{Name: name, Detail: err.Error()}
	}
	return identity.Link{Name: name, OK: true, Detail: detail}
}
