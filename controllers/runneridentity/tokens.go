// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/identity"
)

// Tokens issues ServiceAccount tokens.
type Tokens interface {
	Token(ctx context.Context, r TokenRequest) (identity.Secret, error)
}

// A TokenRequest says which token is asked for.
type TokenRequest struct {
	Namespace, Account string
	identity.Exchange
}

// APITokens issues tokens by the API server's TokenRequest.
type APITokens struct {
	Client client.Client
}

var _ Tokens = APITokens{}

// Token asks the API server for a token with one audience.
func (t APITokens) Token(ctx context.Context, r TokenRequest) (identity.Secret, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences:         []string{r.Audience},
		ExpirationSeconds: new(int64(max(r.Lifetime, identity.MinTokenLifetime) / time.Second)),
	}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Account}}
	if err := t.Client.SubResource("token").Create(ctx, account, request); err != nil {
		return identity.Secret{}, identity.Errorf(identity.Unreachable, "token of ServiceAccount %q: %w", r.Account, err)
	}
	return identity.NewSecret(request.Status.Token), nil
}

// tokenRequest is for a token of the account that the identity trades at the cloud.
func (s *scope) tokenRequest() TokenRequest {
	return TokenRequest{
		Namespace: s.identity.Namespace,
		Account:   s.resolved.Request.Exchange(),
		Exchange:  s.resolved.Plan.Exchange,
	}
}

// withToken calls use with a fresh token. An error of use that repeats the token is cut: errors end up in conditions, events
// and logs, and not every plug-in is ours.
func (c *Controller) withToken(ctx context.Context, r TokenRequest, use func(identity.Secret) error) error {
	token, err := c.Tokens.Token(ctx, r)
	if err != nil {
		return err
	}
	if token.IsZero() {
		return identity.Errorf(identity.Unreachable, "token of ServiceAccount %q is empty", r.Account)
	}
	err = use(token)
	if err != nil && strings.Contains(err.Error(), token.Reveal()) {
		return identity.Errorf(identity.ReasonOf(err), "%s", strings.ReplaceAll(err.Error(), token.Reveal(), token.String()))
	}
	return err
}
