// SPDX-License-Identifier: Apache-2.0

package pace_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/pace"
)

func TestRetryAt(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		err      error
		failures int
		want     time.Duration
	}{
		"the first time that a cloud does not answer": {errors.New("connection refused"), 1, 5 * time.Second},
		"the third": {identity.Errorf(identity.Unreachable, "503"), 3, 20 * time.Second},
		"the hundredth: not later than every five minutes": {identity.Errorf(identity.Unreachable, "503"), 100, 5 * time.Minute},
		"the first refusal": {identity.Errorf(identity.Denied, "no"), 1, time.Minute},
		"the hundredth":     {identity.Errorf(identity.Denied, "no"), 100, 10 * time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				got := pace.RetryAt(test.err, test.failures, now).Sub(now)
				assert.LessOrEqual(t, got, test.want)
				assert.GreaterOrEqual(t, got, test.want*9/10)
			}
		})
	}
	assert.Zero(t, pace.RetryAt(identity.Errorf(identity.Invalid, "bad"), 1, now), "what is wrong in the spec is not retried")
}

func TestRenewAt(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for life, want := range map[time.Duration]time.Duration{
		12 * time.Hour:   6 * time.Hour,
		time.Hour:        30 * time.Minute,
		72 * time.Hour:   6 * time.Hour,
		10 * time.Second: 5 * time.Second,
	} {
		seen := map[time.Time]bool{}
		for range 100 {
			got := pace.RenewAt(now, now.Add(life))
			seen[got] = true
			assert.LessOrEqual(t, got.Sub(now), want)
			assert.GreaterOrEqual(t, got.Sub(now), want*9/10)
		}
		assert.Greater(t, len(seen), 1, "not all at the same time")
	}
}
