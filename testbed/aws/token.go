// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// AWS's words. The last is of STS's service model: what AWS says of a bad signature is not documented.
const (
	notJWT        = "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)"
	wrongAudience = "Incorrect token audience"
	noKey         = "Couldn't retrieve verification key from your identity provider,  please reference AssumeRoleWithWebIdentity documentation for requirements"
	notValid      = "The web identity token that was passed could not be validated by AWS. Get a new identity token from the identity provider and then retry the request."
)

// A provider is an IAM OIDC provider and the keys of its issuer.
type provider struct {
	Issuer
	keys *sim.Keys
}

// A verified is what a web identity token proved.
type verified struct {
	jwt.Claims
	// audience is the one of the token's audiences that the provider takes.
	audience string
}

// verify checks a web identity token in the order in which STS does: provider, signature, time, audience.
func (s *Server) verify(c *call, account, raw string) (verified, error) {
	token, err := jwt.ParseSigned(raw, algorithms())
	if err != nil || len(token.Headers) != 1 {
		return verified{}, invalidToken(notJWT)
	}
	var claimed jwt.Claims
	if err := token.UnsafeClaimsWithoutVerification(&claimed); err != nil {
		return verified{}, invalidToken(notJWT)
	}
	p := s.provider(account, claimed.Issuer)
	if p == nil {
		return verified{}, invalidToken("No OpenIDConnect provider found in your account for " + claimed.Issuer)
	}
	claims, err := p.claims(c.http.Context(), token)
	if err != nil {
		return verified{}, err
	}
	if err := c.checkTimes(claims); err != nil {
		return verified{}, err
	}
	return p.checkAudience(claims)
}

// algorithms are those that STS takes.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512}
}

func (s *Server) provider(account, issuer string) *provider {
	i := slices.IndexFunc(s.providers, func(p *provider) bool { return p.URL == issuer && p.in(account) })
	if i < 0 {
		return nil
	}
	return s.providers[i]
}

// claims are the token's, once its signature has been verified.
func (p *provider) claims(ctx context.Context, token *jwt.JSONWebToken) (jwt.Claims, error) {
	var claims jwt.Claims
	err := p.keys.Verify(ctx, token, &claims)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return jwt.Claims{}, refuse(http.StatusBadRequest, "IDPCommunicationError", "%s", noKey)
	case errors.Is(err, sim.ErrSignature):
		return jwt.Claims{}, invalidToken(notValid)
	case err != nil:
		return jwt.Claims{}, invalidToken(noKey)
	}
	return claims, nil
}

func (c *call) checkTimes(claims jwt.Claims) error {
	if claims.Expiry == nil {
		return invalidToken("Missing a required claim: exp")
	}
	if expires := claims.Expiry.Time(); !c.now.Before(expires) {
		return refuse(http.StatusBadRequest, "ExpiredTokenException",
			"Token expired: current date/time %d must be before the expiration date/time %d", c.now.Unix(), expires.Unix())
	}
	if claims.NotBefore != nil && c.now.Before(claims.NotBefore.Time()) {
		return invalidToken(notValid)
	}
	return nil
}

func (p *provider) checkAudience(claims jwt.Claims) (verified, error) {
	if len(claims.Audience) == 0 {
		return verified{}, invalidToken("Missing a required claim: aud")
	}
	if claims.Subject == "" {
		return verified{}, invalidToken("Missing a required claim: sub")
	}
	i := slices.IndexFunc(claims.Audience, func(a string) bool { return slices.Contains(p.ClientIDs, a) })
	if i < 0 {
		return verified{}, invalidToken(wrongAudience)
	}
	return verified{Claims: claims, audience: claims.Audience[i]}, nil
}
