// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google/externalaccount"

	"github.com/runner-identity/runner-identity/identity"
)

// callTimeout bounds one exchange, and one check of a repository.
const callTimeout = 10 * time.Second

const cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"

// An exchange is one trade of a ServiceAccount token for an access token.
type exchange struct {
	settings
	request identity.Request
	token   identity.Secret
}

// An accessToken is what Google answered.
type accessToken struct {
	value   identity.Secret
	expires time.Time
}

// exchangeOf checks a request for an exchange.
func exchangeOf(token identity.Secret, r identity.Request) (exchange, error) {
	s, problems := parse(r)
	if err := identity.Problems(problems); err != nil {
		return exchange{}, err
	}
	if s.provider.kind == noProvider {
		return exchange{}, identity.Errorf(identity.Invalid, "gcp.workloadIdentityProvider: is not set, and without it no token can be traded outside of a running pod; set it to the GKE cluster, such as %s", exampleCluster)
	}
	if token.IsZero() {
		return exchange{}, identity.Errorf(identity.Invalid, "the token of %s/%s is empty", r.Namespace, r.Exchange())
	}
	return exchange{settings: s, request: r, token: token}, nil
}

// key tells access tokens apart that are not the same: by who asks, for whom, and where.
func (e exchange) key() string {
	return strings.Join([]string{
		e.request.Namespace, e.request.Exchange(), e.provider.stsAudience(), e.Audience,
		e.tokenURL(), e.impersonationURL(), e.accessLifetime.String(), e.QuotaProject,
	}, "\n")
}

// access returns an access token of the principal.
func (p *Provider) access(ctx context.Context, e exchange) (accessToken, error) {
	t, err := p.tokens.Get(ctx, e.key(), func(ctx context.Context) (accessToken, error) { return p.trade(ctx, e) })
	if err != nil && ctx.Err() != nil {
		return accessToken{}, identity.Errorf(identity.Unreachable, "%s: no answer in time: %w", e.service(stepSTS), ctx.Err())
	}
	return t, err
}

// trade makes the calls, with a source that is used once: one that is kept would hand the same token out until it ends.
func (p *Provider) trade(ctx context.Context, e exchange) (accessToken, error) {
	w := &witness{base: p.client.Transport}
	client := &http.Client{Transport: w, Timeout: p.client.Timeout}
	source, err := externalaccount.NewTokenSource(context.WithValue(ctx, oauth2.HTTPClient, client), externalaccount.Config{
		Audience:                       e.provider.stsAudience(),
		SubjectTokenType:               jwtType,
		TokenURL:                       e.tokenURL(),
		ServiceAccountImpersonationURL: e.impersonationURL(),
		ServiceAccountImpersonationLifetimeSeconds: seconds(e.accessLifetime),
		SubjectTokenSupplier:                       subjectToken{e.token},
		Scopes:                                     []string{cloudPlatform},
	})
	if err != nil {
		return accessToken{}, identity.Errorf(identity.Invalid, "gcp: %w", err)
	}
	got, err := source.Token()
	if err != nil {
		return accessToken{}, e.refused(w.last, failureOf(w.last, err, e.token))
	}
	return p.checked(e, w.last, got)
}

// checked takes no token that has ended, and none whose end is not known: whoever renews it could not tell when.
func (p *Provider) checked(e exchange, last answer, got *oauth2.Token) (accessToken, error) {
	now := p.clock.Now()
	switch {
	case got.AccessToken == "" || got.Expiry.IsZero():
		return accessToken{}, identity.Errorf(identity.Unreachable, "%s: the answer lacks the token or its expiry", e.service(last.step))
	case !got.Expiry.After(now):
		return accessToken{}, identity.Errorf(identity.Unreachable, "%s: the token ended at %s already: check this machine's clock",
			e.service(last.step), got.Expiry.UTC().Format(time.RFC3339))
	}
	return accessToken{value: identity.NewSecret(got.AccessToken), expires: got.Expiry}, nil
}

// service names a service for a person, and who it was asked for.
func (e exchange) service(step string) string {
	if step == stepImpersonation {
		return fmt.Sprintf("iamcredentials for %s", e.account.email)
	}
	return fmt.Sprintf("sts for %s", e.provider.name)
}

// subjectToken supplies the one token that there is, without the white space that a file may have put at its end: Google takes
// that for a part of the token.
type subjectToken struct{ token identity.Secret }

var _ externalaccount.SubjectTokenSupplier = subjectToken{}

// SubjectToken is the token.
func (s subjectToken) SubjectToken(context.Context, externalaccount.SupplierOptions) (string, error) {
	return strings.TrimSpace(s.token.Reveal()), nil
}
