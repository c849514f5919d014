// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/runner-identity/runner-identity/identity"
)

// algorithms are the signatures that STS takes.
func algorithms() []jose.SignatureAlgorithm { return []jose.SignatureAlgorithm{jose.RS256, jose.ES256} }

// decodeClaims reads the claims of a token without verifying them: that is Google's part. Its errors never quote the token.
func decodeClaims(token identity.Secret) (jwt.Claims, error) {
	var c jwt.Claims
	parsed, err := jwt.ParseSigned(strings.TrimSpace(token.Reveal()), algorithms())
	if err != nil || parsed.UnsafeClaimsWithoutVerification(&c) != nil {
		return jwt.Claims{}, identity.Errorf(identity.Invalid, "the token is not a JSON Web Token signed with one of %s", algorithms())
	}
	return c, nil
}

// issuerOf is the token's issuer, "" if it cannot be read.
func issuerOf(token identity.Secret) string {
	c, err := decodeClaims(token)
	if err != nil {
		return ""
	}
	return c.Issuer
}

// checkClaims looks for what STS would refuse, without asking it.
func (e exchange) checkClaims(now time.Time) (string, error) {
	c, err := decodeClaims(e.token)
	if err != nil {
		return "", err
	}
	sub := subject(e.request.Namespace, e.request.Exchange())
	switch {
	case !isIssuer(c.Issuer):
		return "", identity.Errorf(identity.Denied, "the issuer %q is not an https URL without a query: set the API server's --service-account-issuer", c.Issuer)
	case e.request.Issuer != "" && e.request.Issuer != c.Issuer:
		return "", identity.Errorf(identity.Denied, "the issuer is %q, and the IdentityProvider says %q: they have to be equal byte for byte", c.Issuer, e.request.Issuer)
	case c.Subject != sub:
		return "", identity.Errorf(identity.Invalid, "the subject is %q, wanted %q", c.Subject, sub)
	case !slices.Contains(c.Audience, e.Audience):
		return "", identity.Errorf(identity.Invalid, "the audience is %q, wanted %q (gcp.audience)", c.Audience, e.Audience)
	case c.Expiry == nil:
		return "", identity.Errorf(identity.Invalid, "the token has no exp claim")
	case !c.Expiry.Time().After(now):
		return "", identity.Errorf(identity.Unreachable, "the token expired at %s: ask for a new one, and check this machine's clock", c.Expiry.Time().UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s from %s for %s", c.Subject, c.Issuer, e.Audience), nil
}

// isIssuer reports whether a URL is one that OIDC takes as an issuer.
func isIssuer(issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.RawQuery == "" && u.User == nil
}
