// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/api/googleapi"

	"github.com/runner-identity/runner-identity/podspec"
)

// errNotRefused is for an answer to a stranger other than that the right is missing: one that was let in, or a failure.
var errNotRefused = errors.New("wanted HTTP 403")

// prove is what a client library in the pod does, step by step, and then gcloud itself.
func (g *gcpCloud) prove(ctx context.Context, p *workload) error {
	token, audience, err := p.token(ctx, podspec.IdentityVolume)
	if err != nil {
		return err
	}
	c, err := gcpCredentialsOf(p)
	if err != nil {
		return err
	}
	access, err := g.trade(ctx, c, token)
	if err != nil {
		return err
	}
	if err := g.pull(ctx, "registry", "with that login", access); err != nil {
		return err
	}
	if err := g.gcloud(ctx, p, token); err != nil {
		return err
	}
	return g.stranger(ctx, p, c, audience)
}

// trade trades the pod's token for an access token, and tells what each service answers.
func (g *gcpCloud) trade(ctx context.Context, c gcpCredentials, token string) (string, error) {
	federated, err := c.federate(ctx, token)
	if err != nil {
		return "", fmt.Errorf("STS: %w", err)
	}
	who, err := g.bearer(federated.AccessToken)
	if err != nil {
		return "", err
	}
	ok("Google STS", "it verified the token's signature, issuer, audience and subject, and answered:")
	ok("", "a federated token for %d seconds; you are %s", federated.ExpiresIn, who)
	if c.ImpersonationURL == "" {
		return federated.AccessToken, nil
	}
	account, err := c.impersonate(ctx, federated.AccessToken)
	if err != nil {
		return "", fmt.Errorf("IAM credentials: %w", err)
	}
	if who, err = g.bearer(account.AccessToken); err != nil {
		return "", err
	}
	ok("IAM credentials", "you may be %s until %s", who, account.ExpireTime)
	return account.AccessToken, nil
}

// pull asks the registry for the right to pull the image, which it has to give.
func (g *gcpCloud) pull(ctx context.Context, what, how, access string) error {
	a, err := g.registry(ctx, access)
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("%s: HTTP %d: %s", a.asked, a.status, a.refusal)
	}
	ok(what, "GET %s %s: HTTP %d, for %d seconds", a.asked, how, a.status, a.ExpiresIn)
	return nil
}

// stranger tries the same with another account of the namespace, which must be refused: by the Google service account, or where
// there is none by the registry.
func (g *gcpCloud) stranger(ctx context.Context, p *workload, c gcpCredentials, audience string) error {
	token, err := p.stranger(ctx, audience)
	if err != nil {
		return err
	}
	federated, err := c.federate(ctx, token)
	if err != nil {
		return fmt.Errorf("STS, for the account default: %w", err)
	}
	who, err := g.bearer(federated.AccessToken)
	if err != nil {
		return err
	}
	refusal, err := g.refusal(ctx, c, federated.AccessToken)
	if err != nil {
		return fmt.Errorf("%s is not refused as it should be: %w", who, err)
	}
	ok("a stranger", "the same with the account default: STS knows it as %s,", who)
	ok("", "and then: %s", refusal)
	return nil
}

// refusal is what a federated principal without rights is told. The error is that it was not refused, or not for its rights.
func (g *gcpCloud) refusal(ctx context.Context, c gcpCredentials, federated string) (string, error) {
	if c.ImpersonationURL != "" {
		_, err := c.impersonate(ctx, federated)
		refused, said := errors.AsType[*googleapi.Error](err)
		if !said || refused.Code != http.StatusForbidden {
			return "", fmt.Errorf("%s: %w", c.ImpersonationURL, errors.Join(errNotRefused, err))
		}
		return fmt.Sprintf("HTTP %d: %s", refused.Code, refused.Message), nil
	}
	a, err := g.registry(ctx, federated)
	if err != nil {
		return "", err
	}
	if a.status != http.StatusForbidden {
		return "", fmt.Errorf("%s: HTTP %d: %w", a.asked, a.status, errNotRefused)
	}
	return fmt.Sprintf("HTTP %d: %s", a.status, a.refusal), nil
}
