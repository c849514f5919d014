// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"math/rand/v2"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

const (
	// longestRenewal is the most that a login is used before it is renewed. ECR was seen to refuse logins before their 12 hours
	// were over.
	longestRenewal = 6 * time.Hour
	verifyEvery    = time.Hour
	// conflictEvery is how often an account is tried again on which somebody else has set what is ours to set.
	conflictEvery = time.Minute

	firstUnreachable, lastUnreachable = 5 * time.Second, 5 * time.Minute
	firstDenied, lastDenied           = time.Minute, 10 * time.Minute
	// recheck is when a reconciliation looks again at a call that it did not wait for.
	recheck = time.Second
)

// renewAt is when a login that was issued now is renewed: at half its life, six hours at most, a little earlier by chance so
// that logins issued together are not renewed together.
func renewAt(now, expires time.Time) time.Time {
	return now.Add(early(min(expires.Sub(now)/2, longestRenewal)))
}

// retryAt is when a failed call is made again. Zero: never, what is asked for has to change first.
func retryAt(err error, failures int, now time.Time) time.Time {
	switch identity.ReasonOf(err) {
	case identity.Invalid:
		return time.Time{}
	case identity.Denied:
		return now.Add(early(backOff(firstDenied, lastDenied, failures)))
	default:
		return now.Add(early(backOff(firstUnreachable, lastUnreachable, failures)))
	}
}

// backOff doubles from first to last.
func backOff(first, last time.Duration, failures int) time.Duration {
	d := first
	for range failures - 1 {
		if d = 2 * d; d >= last {
			return last
		}
	}
	return d
}

// early takes up to a tenth off, by chance.
func early(d time.Duration) time.Duration {
	if d < 10 {
		return d
	}
	return d - time.Duration(rand.Int64N(int64(d/10))) //nolint:gosec // spreads load, guards nothing
}
