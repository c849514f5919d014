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
	"github.com/runner-identity/runner-identity/identity/token"
)

// Claims are what AWS looks at in a ServiceAccount token, and the name of the session that it is asked for.
type Claims struct {
	token.Claims
	// Session is the RoleSessionName of the call, for conditions on sts:RoleSessionName. Empty: not known.
	Session string
}

// maxToken is the most that STS takes as WebIdentityToken.
const maxToken = 20000

// algorithms are the signatures that STS takes.
func algorithms() []string { return []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"} }

// claims reads the token, if STS reads one of that size.
func (e exchange) claims() (token.Claims, error) {
	if n := len(strings.TrimSpace(e.token.Reveal())); n > maxToken {
		return token.Claims{}, identity.Errorf(identity.Invalid, "the token has %d bytes, and STS takes at most %d", n, maxToken)
	}
	return token.Decode(e.token)
}

// checkClaims looks for what STS would refuse, without asking it.
func (e exchange) checkClaims(c token.Claims, now time.Time) (string, error) {
	want := token.Want{
		Issuer: e.request.Issuer, Subject: token.Subject(e.request.Namespace, e.request.Exchange()),
		Audience: e.Audience, AudienceField: "aws.audience",
	}
	err := want.Check(c, now)
	switch {
	case err != nil:
		return "", err
	case c.KeyID == "":
		return "", identity.Errorf(identity.Denied, "the token's header has no kid, so AWS cannot tell which key signed it: check the API server's --service-account-signing-key-file")
	case !slices.Contains(algorithms(), c.Algorithm):
		return "", identity.Errorf(identity.Denied, "the token is signed with %q; AWS takes %s", c.Algorithm, strings.Join(algorithms(), ", "))
	}
	return fmt.Sprintf("%s from %s for %s%s", c.Subject, c.Issuer, e.Audience, issuerWarning(c.Issuer)), nil
}

// issuerWarning names what is likely to be refused by the real AWS. It is no failure: a simulated or private STS takes it.
func issuerWarning(issuer string) string {
	u, err := url.Parse(issuer)
	switch {
	case err != nil:
		return ""
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
