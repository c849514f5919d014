// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	authv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A token is what tests keep of one.
type token struct {
	Subject string `json:"sub"`
	Issued  int64  `json:"iat"`
	Expires int64  `json:"exp"`
}

// verify asks both who can tell: the API server, which knows whether the pod is still there, and the published keys, which are
// all that a cloud has.
func (b bed) verify(ctx context.Context, raw, audience string) (token, error) {
	review := &authv1.TokenReview{Spec: authv1.TokenReviewSpec{Token: raw, Audiences: []string{audience}}}
	review, err := b.kube.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return token{}, err
	}
	if s := review.Status; !s.Authenticated || !slices.Contains(s.Audiences, audience) {
		return token{}, fmt.Errorf("the API server does not take the token for audience %q: %s", audience, s.Error)
	}
	got, err := b.signed(ctx, raw)
	if err == nil && got.Subject != review.Status.User.Username {
		return got, fmt.Errorf("the token is of %q, the API server takes it for %q", got.Subject, review.Status.User.Username)
	}
	return got, err
}

// signed checks a token's signature as a cloud does.
func (b bed) signed(ctx context.Context, raw string) (out token, err error) {
	published, err := b.JWKS(ctx)
	if err != nil {
		return out, err
	}
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal(published, &keys); err != nil {
		return out, err
	}
	parsed, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return out, errors.New("what the pod read is not a token")
	}
	return out, parsed.Claims(keys, &out)
}
