// SPDX-License-Identifier: Apache-2.0

// Package pace says when a cloud is asked again: before a login expires, and after a failure. By chance all of it is a little early,
// so that what began together is not asked for together.
package pace

import (
	"math/rand/v2"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

const (
	// longestRenewal is the most that a login is used before it is renewed. ECR was seen to refuse logins before their 12 hours
	// were over.
	longestRenewal = 6 * time.Hour

	firstUnreachable, lastUnreachable = 5 * time.Second, 5 * time.Minute
	firstDenied, lastDenied           = time.Minute, 10 * time.Minute
)

// RenewAt is when a login that was issued now is renewed: at half its life, six hours at most, a little earlier by chance so
// that logins issued together are not renewed together.
func RenewAt(now, expires time.Time) time.Time {
	return now.Add(Early(min(expires.Sub(now)/2, longestRenewal)))
}

// RetryAt is when a failed call is made again. Zero: never, what is asked for has to change first.
func RetryAt(err error, failures int, now time.Time) time.Time {
	switch identity.ReasonOf(err) {
	case identity.Invalid:
		return time.Time{}
	case identity.Denied:
		return now.Add(Early(backOff(firstDenied, lastDenied, failures)))
	default:
		return now.Add(Early(backOff(firstUnreachable, lastUnreachable, failures)))
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

// Early takes up to a tenth off, by chance.
func Early(d time.Duration) time.Duration {
	if d < 10 {
		return d
	}
	return d - time.Duration(rand.Int64N(int64(d/10))) //nolint:gosec // spreads load, guards nothing
}
