// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

// algorithms are the signatures that STS takes.
func algorithms() []string { return []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"} }

// checkClaims looks for what STS would refuse, without asking it.
func (e exchange) checkClaims(c Claims, now time.Time) (string, error) {
	issuer, err := e.checkIssuerClaim(c)
	if err != nil {
		return "", err
	}
	sub := subject(e.request.Namespace, e.request.Exchange())
	switch {
	case c.Subject != sub:
		return "", identity.Errorf(identity.Invalid, "the subject is %q, wanted %q", c.Subject, sub)
	case !slices.Contains(c.Audience, e.Audience):
		return "", identity.Errorf(identity.Invalid, "the audience is %s, wanted %q (aws.audience)", quoted(c.Audience), e.Audience)
	case c.Expires.IsZero():
		return "", identity.Errorf(identity.Invalid, "the token has no exp claim")
	case !c.Expires.After(now):
		return "", identity.Errorf(identity.Unreachable, "the token expired at %s: ask for a new one, and check this machine's clock", c.Expires.UTC().Format(time.RFC3339))
	case c.KeyID == "":
		return "", identity.Errorf(identity.Denied, "the token's header has no kid, so AWS cannot tell which key signed it: check the API server's --service-account-signing-key-file")
	case !slices.Contains(algorithms(), c.Algorithm):
		return "", identity.Errorf(identity.Denied, "the token is signed with %q; AWS takes %s", c.Algorithm, strings.Join(algorithms(), ", "))
	}
	return fmt.Sprintf("%s from %s for %s%s", c.Subject, c.Issuer, e.Audience, issuerWarning(issuer)), nil
}

// checkIssuerClaim checks that AWS could take the issuer at all, and that it is the one that is expected.
func (e exchange) checkIssuerClaim(c Claims) (*url.URL, error) {
	issuer, err := url.Parse(c.Issuer)
	if err != nil || issuer.Scheme != "https" || issuer.Host == "" || issuer.RawQuery != "" || issuer.User != nil {
		return nil, identity.Errorf(identity.Denied, "the issuer %q is not an https URL without a query: set the API server's --service-account-issuer", c.Issuer)
	}
	if e.request.Issuer != "" && e.request.Issuer != c.Issuer {
		return nil, identity.Errorf(identity.Denied, "the issuer is %q, and the IdentityProvider says %q: they have to be equal byte for byte", c.Issuer, e.request.Issuer)
	}
	return issuer, nil
}

// issuerWarning names what is likely to be refused by the real AWS. It is no failure: a simulated or private STS takes it.
func issuerWarning(u *url.URL) string {
	switch {
	case isPrivate(u.Hostname()):
		return fmt.Sprintf("; warning: %s is not a public host, and AWS reads the issuer's keys over the internet", u.Hostname())
	case u.Port() != "":
		return "; warning: the issuer has a port, which IAM's OIDC providers should not have"
	}
	return ""
}

// isPrivate reports whether a host is one that the internet does not have.
func isPrivate(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	return !strings.Contains(host, ".") || slices.ContainsFunc([]string{".svc", ".local", ".internal", ".localhost"},
		func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}
