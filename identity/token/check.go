// SPDX-License-Identifier: Apache-2.0

package token

import (
	"net/url"
	"slices"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

// SubjectPrefix is what the sub claim of each ServiceAccount's tokens begins with.
const SubjectPrefix = "system:serviceaccount:"

// Subject is the sub claim of a ServiceAccount's tokens.
func Subject(namespace, account string) string {
	return SubjectPrefix + namespace + ":" + account
}

// Want is the token that a provider has to be given.
type Want struct {
	// Issuer is what the IdentityProvider says, "" if it says nothing.
	Issuer string
	// Subject is that of the account whose token it is.
	Subject string
	// Audience is what the cloud takes, AudienceField where users set it, such as aws.audience.
	Audience, AudienceField string
}

// Check says what every cloud would refuse in a token, and who has to mend it.
func (w Want) Check(c Claims, now time.Time) error {
	switch {
	case !isIssuer(c.Issuer):
		return identity.Errorf(identity.Denied, "the issuer %q is not an https URL without a query: set the API server's --service-account-issuer", c.Issuer)
	case w.Issuer != "" && w.Issuer != c.Issuer:
		return identity.Errorf(identity.Denied, "the issuer is %q, and the IdentityProvider says %q: they have to be equal byte for byte", c.Issuer, w.Issuer)
	case c.Subject != w.Subject:
		return identity.Errorf(identity.Invalid, "the subject is %q, wanted %q", c.Subject, w.Subject)
	case !slices.Contains(c.Audience, w.Audience):
		return identity.Errorf(identity.Invalid, "the audience is %q, wanted %q (%s)", c.Audience, w.Audience, w.AudienceField)
	case c.Expires.IsZero():
		return identity.Errorf(identity.Invalid, "the token has no exp claim")
	case !c.Expires.After(now):
		return identity.Errorf(identity.Unreachable, "the token expired at %s: ask for a new one, and check this machine's clock", c.Expires.UTC().Format(time.RFC3339))
	}
	return nil
}

// isIssuer reports whether a URL is one that OIDC takes as an issuer.
func isIssuer(issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.RawQuery == "" && u.User == nil
}
