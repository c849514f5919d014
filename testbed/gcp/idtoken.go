// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

const googleIssuer = "https://accounts.google.com"

// identity is for ID tokens, which only a Google service account has.
func (m metadataHandler) identity(c *call) (any, error) {
	email, impersonates, err := m.emailOf(c.http.Context())
	if err != nil {
		return nil, err
	}
	audience := c.http.URL.Query().Get("audience")
	switch {
	case !impersonates:
		return nil, refuse(http.StatusNotFound, "NOT_FOUND", "Your Kubernetes service account (%s/%s) is not annotated with a target Google service account, which is a requirement for retrieving Identity Tokens using Workload Identity.",
			m.pod.Namespace, m.pod.Account)
	case audience == "":
		return nil, refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "non-empty audience parameter required")
	}
	// Whoever may not have the account's access tokens may not have its ID tokens.
	if _, err := m.access(c); err != nil {
		return nil, err
	}
	issuer, err := m.server.google()
	if err != nil {
		return nil, err
	}
	raw, err := issuer.Sign(struct {
		jwt.Claims
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
	}{jwt.Claims{
		Issuer: googleIssuer, Subject: email, Audience: jwt.Audience{audience},
		IssuedAt: jwt.NewNumericDate(c.now), Expiry: jwt.NewNumericDate(c.now.Add(time.Hour)),
	}, email, true})
	return text(raw), err
}
