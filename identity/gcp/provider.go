// SPDX-License-Identifier: Apache-2.0

// Package gcp is the identity provider for Google Cloud: Workload Identity Federation, on GKE and anywhere else, and registry
// logins for Artifact Registry. It trades nothing but the workload's own token: no environment, file or metadata server of the
// process is ever read.
package gcp

import (
	"net/http"

	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/identity"
)

// Provider is the plug-in "gcp". Make it with New.
type Provider struct {
	clock  clock.PassiveClock
	client *http.Client
	tokens *tokens
}

var _ identity.Provider = (*Provider)(nil)

// An Option changes a Provider.
type Option func(*Provider)

// WithClock sets the clock that expiry is told by.
func WithClock(c clock.PassiveClock) Option { return func(p *Provider) { p.clock = c } }

// WithHTTPClient sets the client for all calls to Google.
func WithHTTPClient(c *http.Client) Option { return func(p *Provider) { p.client = c } }

// New makes a Provider.
func New(opts ...Option) *Provider {
	p := &Provider{clock: clock.RealClock{}, client: &http.Client{Timeout: callTimeout}}
	for _, o := range opts {
		o(p)
	}
	p.tokens = newTokens(p.clock)
	return p
}

// Name is "gcp".
func (*Provider) Name() string { return "gcp" }

// Plan says what the pods, accounts and registries of a request need.
func (*Provider) Plan(r identity.Request) (identity.Plan, error) {
	s, problems := parse(r)
	if err := identity.Problems(problems); err != nil {
		return identity.Plan{}, err
	}
	if r.Targets == 0 {
		return identity.Plan{}, nil
	}
	return s.plan(r)
}
