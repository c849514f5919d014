// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/runner-identity/runner-identity/identity"
)

const (
	kindVerify = "verify"
	kindLogin  = "login"
)

// callKey is the key of a call that the identity asks for. What decides the answer is in it, so that a change of it is asked
// about at once, whatever came of earlier calls.
func (s *scope) callKey(kind, host string) callKey {
	r := s.resolved
	return callKey{
		kind:      kind,
		provider:  s.identity.Spec.IdentityProvider,
		principal: r.Plan.Principal,
		account:   s.identity.Namespace + "/" + r.Request.Exchange(),
		host:      host,
		settings:  digest(string(r.Request.Settings), r.Plan.Exchange.Audience, r.Request.Issuer),
	}
}

// call completes a call with what all of them share.
func (c *Controller) call(key callKey, do func(context.Context) (outcome, error)) call {
	return call{key: key, timeout: cmp.Or(c.CallTimeout, defaultCallTimeout), clock: c.Clock, do: do}
}

// reasonOf is the reason of an error, or good if there is none.
func reasonOf(err error, good string) string {
	if err == nil {
		return good
	}
	return string(identity.ReasonOf(err))
}

// digest is a short hash of some strings and their order.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}
