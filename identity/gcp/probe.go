// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"sync"
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
	// One exchange is two links.
	trade := sync.OnceValues(func() (accessToken, error) { return p.access(ctx, e) })
	steps := []identity.Step{
		{Name: linkToken, Look: func() (string, error) { return e.checkClaims(p.clock.Now()) }},
		{Name: stepSTS, Look: func() (string, error) { return e.checkSTS(trade()) }},
	}
	if !e.direct() {
		steps = append(steps, identity.Step{Name: stepImpersonation, Look: func() (string, error) { return e.checkAccount(trade()) }})
	}
	for _, repo := range e.repositories {
		steps = append(steps, identity.Step{Name: stepRepository, Look: func() (string, error) { return p.checkRepository(ctx, e, repo) }})
	}
	return identity.Walk(steps...)
}

// checkSTS is STS's part of an exchange: a Google service account that refuses is proof that STS did not.
func (e exchange) checkSTS(t accessToken, err error) (string, error) {
	if err != nil && refusedAt(err) != stepImpersonation {
		return "", err
	}
	took := fmt.Sprintf("%s vouches for %s", e.provider.name, e.provider.subject(e.request.Namespace, e.request.Exchange()))
	if e.direct() {
		took += ", until " + t.expires.UTC().Format(time.RFC3339)
	}
	return took, nil
}

// checkAccount is the Google service account's part of an exchange.
func (e exchange) checkAccount(t accessToken, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s lets the ServiceAccount in, until %s", e.account.email, t.expires.UTC().Format(time.RFC3339)), nil
}
