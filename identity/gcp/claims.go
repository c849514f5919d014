// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/token"
)

// algorithms are the signatures that STS takes.
func algorithms() []string { return []string{"RS256", "ES256"} }

// checkClaims looks for what STS would refuse, without asking it.
func (e exchange) checkClaims(now time.Time) (string, error) {
	c, err := token.Decode(e.token)
	if err != nil {
		return "", err
	}
	if !slices.Contains(algorithms(), c.Algorithm) {
		return "", identity.Errorf(identity.Invalid, "the token is signed with %q; Google takes %s", c.Algorithm, strings.Join(algorithms(), ", "))
	}
	want := token.Want{
		Issuer: e.request.Issuer, Subject: token.Subject(e.request.Namespace, e.request.Exchange()),
		Audience: e.Audience, AudienceField: "gcp.audience",
	}
	if err := want.Check(c, now); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s from %s for %s", c.Subject, c.Issuer, e.Audience), nil
}

// issuerOf is the token's issuer, "" if it cannot be read.
func issuerOf(secret identity.Secret) string {
	c, err := token.Decode(secret)
	if err != nil {
		return ""
	}
	return c.Issuer
}
