// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/identity/internal/memo"
)

// together is how long an access token is handed out again: logins to several hosts, which all take the same token, are made
// within it. It is short because the token itself is the login: one that is renewed has to be a new one.
const together = 30 * time.Second

// tokens makes one exchange at a time for a key, and lets those that follow closely have its token too.
type tokens = memo.Memo[accessToken]

func newTokens(c clock.PassiveClock) *tokens {
	return memo.New(c, callTimeout, func(t accessToken, now time.Time) time.Time {
		return now.Add(min(together, t.expires.Sub(now)/10))
	})
}
