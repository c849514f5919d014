// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/identity/internal/memo"
)

// expiryWindow is how long before its end a session is no longer handed out, so that no call is made with one that ends
// on the way.
const expiryWindow = 5 * time.Minute

// sessions keeps sessions until shortly before they end, and makes one at a time for a key: STS throttles web identities at a
// few calls a second and gives no way to raise that.
type sessions = memo.Memo[sdk.Credentials]

// newSessions makes sessions. Of a session shorter than two windows, half is used.
func newSessions(c clock.PassiveClock) *sessions {
	return memo.New(c, callTimeout, func(keys sdk.Credentials, now time.Time) time.Time {
		return keys.Expires.Add(-min(expiryWindow, keys.Expires.Sub(now)/2))
	})
}
