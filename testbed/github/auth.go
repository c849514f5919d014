// SPDX-License-Identifier: Apache-2.0

package github

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	jwt "github.com/golang-jwt/jwt/v4"
)

// A Token is a user's token.
type Token struct {
	Value string
	// Scopes are what it may use, such as "orgs/acme"; "*" is everything.
	Scopes []string
}

// An App is a GitHub App with one installation.
type App struct {
	ID, Installation int64
	// Key is the public half of the App's private key.
	Key *rsa.PublicKey
	// Scopes are as for a Token.
	Scopes []string
	// Suspended is whether an owner suspended the installation.
	Suspended bool
}

// account is who a call is made for.
type account struct {
	scopes  []string
	budgets budgets
	app     bool
	expires time.Time // zero: never
}

func (a *account) may(scope string) bool {
	return slices.Contains(a.scopes, scope) || slices.Contains(a.scopes, "*")
}

// authenticate finds the account by its token. GitHub takes both words before it.
func (s *Simulator) authenticate(r *http.Request) (*account, answer) {
	a := s.tokens[credential(r)]
	if a == nil || !a.expires.IsZero() && !s.options.Clock.Now().Before(a.expires) {
		return nil, unauthorized()
	}
	return a, answer{}
}

func credential(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token") {
		return ""
	}
	return token
}

// issueToken is POST /app/installations/{id}/access_tokens: it verifies the App's JWT and gives a token that expires.
func (s *Simulator) issueToken(r *http.Request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	app, refusal := s.verifyApp(credential(r))
	if app == nil {
		return refusal
	}
	if r.PathValue("id") != strconv.FormatInt(app.Installation, 10) {
		return notFound()
	}
	if app.Suspended {
		return refuse(http.StatusForbidden, "This installation has been suspended")
	}
	token := "ghs_" + rand.Text() + rand.Text()[:10]
	expires := s.options.Clock.Now().Add(s.options.TokenLifetime).UTC().Truncate(time.Second)
	s.tokens[token] = &account{scopes: app.Scopes, app: true, expires: expires, budgets: s.budgetsOf(app)}
	return answer{status: http.StatusCreated, body: map[string]any{
		"token": token, "expires_at": expires.Format(time.RFC3339),
		"permissions": map[string]string{"organization_self_hosted_runners": "write", "administration": "write"},
	}}
}

var errNoApp = errors.New("no such App")

// verifyApp finds the App whose key signed the JWT and which the JWT is about, valid now and for ten minutes at most.
func (s *Simulator) verifyApp(token string) (*App, answer) {
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodRS256.Name}), jwt.WithoutClaimsValidation())
	var app *App
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) {
		i := slices.IndexFunc(s.options.Apps, func(a App) bool { return strconv.FormatInt(a.ID, 10) == claims.Issuer })
		if i < 0 {
			return nil, errNoApp
		}
		app = &s.options.Apps[i]
		return app.Key, nil
	})
	now := s.options.Clock.Now()
	switch {
	case errors.Is(err, errNoApp):
		return nil, refuse(http.StatusNotFound, "Integration not found")
	case err != nil:
		return nil, refuse(http.StatusUnauthorized, "A JSON web token could not be decoded")
	case claims.ExpiresAt == nil || !claims.ExpiresAt.After(now):
		return nil, refuse(http.StatusUnauthorized, "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires")
	case claims.ExpiresAt.Sub(now) > 10*time.Minute:
		return nil, refuse(http.StatusUnauthorized, "'Expiration time' claim ('exp') is too far in the future")
	case claims.IssuedAt == nil || claims.IssuedAt.After(now):
		return nil, refuse(http.StatusUnauthorized, "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	}
	return app, answer{}
}

// budgetsOf are the budgets of an installation, which all its tokens share.
func (s *Simulator) budgetsOf(app *App) budgets {
	if s.installations[app.Installation] == nil {
		s.installations[app.Installation] = budgets{}
	}
	return s.installations[app.Installation]
}

// Grant changes what an App may use. Tokens that it has keep what they were made with, as GitHub's do.
func (s *Simulator) Grant(appID int64, scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.options.Apps {
		if s.options.Apps[i].ID == appID {
			s.options.Apps[i].Scopes = scopes
		}
	}
}

// RevokeTokens ends all tokens of App installations before their time.
func (s *Simulator) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, a := range s.tokens {
		if a.app {
			delete(s.tokens, token)
		}
	}
}
