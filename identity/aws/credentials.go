// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/runner-identity/runner-identity/identity"
)

const (
	// callTimeout bounds one call with its retries.
	callTimeout = 10 * time.Second
	// attempts are few: the caller has its own back-off.
	attempts = 2
)

// An exchange is one trade of a token for a session.
type exchange struct {
	settings
	request identity.Request
	token   identity.Secret
}

// key tells sessions apart that are not the same: by roles, who asks, and where.
func (e exchange) key() string {
	parts := []string{e.request.Namespace, e.request.Exchange(), e.Audience, e.SessionName, e.Region, e.Endpoints.STS}
	for _, r := range e.roles {
		parts = append(parts, r.arn)
	}
	return strings.Join(parts, "\n")
}

// session returns the keys of the principal's session. STS is asked here, before any other service, because an error of
// STS inside a call to ECR is retried by both and named by neither.
func (p *Provider) session(ctx context.Context, e exchange) (sdk.Credentials, error) {
	keys, err := p.sessions.Get(ctx, e.key(), func(ctx context.Context) (sdk.Credentials, error) { return p.assume(ctx, e) })
	if err != nil && ctx.Err() != nil {
		return keys, identity.Errorf(identity.Unreachable, "sts in %s: %w", e.Region, ctx.Err())
	}
	return keys, err
}

// assume trades the token for a session of the first role, and walks the chain from there.
func (p *Provider) assume(ctx context.Context, e exchange) (sdk.Credentials, error) {
	out, err := p.sts(e.settings, nil).AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn:          new(e.roles[0].arn),
		RoleSessionName:  new(e.SessionName),
		WebIdentityToken: new(strings.TrimSpace(e.token.Reveal())),
	})
	if err != nil {
		return sdk.Credentials{}, e.refused(failureOf(err, e.token))
	}
	keys, err := keysOf(out.Credentials, e.roles[0])
	for i := 1; i < len(e.roles) && err == nil; i++ {
		keys, err = p.hop(ctx, e, keys, i)
	}
	return keys, err
}

// hop assumes role i of the chain with the keys of the one before.
func (p *Provider) hop(ctx context.Context, e exchange, keys sdk.Credentials, i int) (sdk.Credentials, error) {
	out, err := p.sts(e.settings, fixed(keys)).AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn:         new(e.roles[i].arn),
		RoleSessionName: new(e.SessionName),
	})
	if err != nil {
		return sdk.Credentials{}, e.hopRefused(failureOf(err, e.token), i)
	}
	return keysOf(out.Credentials, e.roles[i])
}

// keysOf checks what STS answered.
func keysOf(c *types.Credentials, r role) (sdk.Credentials, error) {
	if c == nil || sdk.ToString(c.AccessKeyId) == "" || sdk.ToString(c.SecretAccessKey) == "" || c.Expiration == nil {
		return sdk.Credentials{}, identity.Errorf(identity.Unreachable, "sts answered for %s without keys or without their expiry", r.arn)
	}
	return sdk.Credentials{
		AccessKeyID:     sdk.ToString(c.AccessKeyId),
		SecretAccessKey: sdk.ToString(c.SecretAccessKey),
		SessionToken:    sdk.ToString(c.SessionToken),
		CanExpire:       true,
		Expires:         *c.Expiration,
	}, nil
}

// sts makes a client from nothing but these settings: no environment, no shared file, no instance role.
func (p *Provider) sts(s settings, keys sdk.CredentialsProvider) *sts.Client {
	return sts.New(sts.Options{
		Region: s.Region, BaseEndpoint: endpoint(s.Endpoints.STS), Credentials: keys,
		HTTPClient: p.awsClient(), Retryer: retryer(),
	})
}

// awsClient does not follow redirects: they would carry the token in the body to wherever they point.
func (p *Provider) awsClient() *http.Client {
	c := *p.client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

func retryer() sdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = attempts })
}

func endpoint(url string) *string {
	if url == "" {
		return nil
	}
	return &url
}

func fixed(keys sdk.Credentials) sdk.CredentialsProvider {
	return sdk.CredentialsProviderFunc(func(context.Context) (sdk.Credentials, error) { return keys, nil })
}

// exchangeOf checks a request for an exchange.
func exchangeOf(token identity.Secret, r identity.Request) (exchange, error) {
	s, problems := parse(r)
	if err := identity.Problems(problems); err != nil {
		return exchange{}, err
	}
	if !s.webIdentity() {
		return exchange{}, identity.Errorf(identity.Invalid, "aws.mode: %s has no token that can be traded outside of a running pod; use WebIdentity", s.Mode)
	}
	if token.IsZero() {
		return exchange{}, identity.Errorf(identity.Invalid, "the token of %s is empty", fmt.Sprintf("%s/%s", r.Namespace, r.Exchange()))
	}
	return exchange{settings: s, request: r, token: token}, nil
}
