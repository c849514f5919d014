// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/github"
	sim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestAUsedUpBudgetIsNotAskedAgainBeforeItsReset(t *testing.T) {
	s := start(t, sim.Options{Budget: 2})
	c := s.client(t, organization)
	for range 2 {
		_, _, err := c.Find(t.Context(), "web-1")
		require.NoError(t, err)
	}
	reset := s.clock.Now().Add(time.Hour)
	_, _, err := c.Find(t.Context(), "web-1")
	assertLimited(t, err, reset, "core")
	assert.Equal(t, 2, s.calls(sim.RouteFind), "the third call was not made")

	s.step(time.Hour + time.Second)
	_, _, err = c.Find(t.Context(), "web-1")
	require.NoError(t, err)
}

func TestRegistrationsHaveABudgetOfTheirOwn(t *testing.T) {
	s := start(t, sim.Options{Budget: 1})
	c := s.client(t, organization)
	for _, name := range []string{"r0", "r1"} {
		_, err := c.Register(t.Context(), github.Registration{Name: name})
		require.NoError(t, err)
	}
	_, err := c.Register(t.Context(), github.Registration{Name: "r2"})
	assertLimited(t, err, s.clock.Now().Add(time.Hour), "actions_runner_registration")

	_, _, err = c.Status(t.Context(), 1)
	require.NoError(t, err, "reads go on")
}

func TestScopesOfOneTokenShareItsBudget(t *testing.T) {
	s := start(t, sim.Options{Budget: 1})
	pool := github.NewPool(github.WithClock(s.clock))
	one, err := pool.Client(s.credentials(t, token), organization)
	require.NoError(t, err)
	other, err := pool.Client(s.credentials(t, token), repository)
	require.NoError(t, err)
	for _, c := range []*github.Client{one, other} {
		_, err := c.Register(t.Context(), github.Registration{Name: "r0"})
		require.NoError(t, err)
	}
	_, err = one.Register(t.Context(), github.Registration{Name: "r1"})
	_, limited := errors.AsType[*github.RateLimited](err)
	assert.True(t, limited)
	assert.Equal(t, 2, s.calls(sim.RouteRegister), "the answer to one scope holds back the other")
}

func TestARefusalForTheRateHoldsBackTheNextCalls(t *testing.T) {
	for name, test := range map[string]struct {
		fault sim.Fault
		wait  time.Duration
		limit string
	}{
		"the budget":                           {sim.Fault{Kind: sim.RateLimit, Wait: 20 * time.Minute}, 20 * time.Minute, "core"},
		"too fast, with a time":                {sim.Fault{Kind: sim.SecondaryLimit, Wait: 90 * time.Second}, 90 * time.Second, "secondary"},
		"too fast, without a time":             {sim.Fault{Kind: sim.SecondaryLimit}, time.Minute, "secondary"},
		"too fast, as 429":                     {sim.Fault{Kind: sim.SecondaryLimit, Wait: 90 * time.Second, Status: 429}, 90 * time.Second, "secondary"},
		"too fast, as 429 without a time":      {sim.Fault{Kind: sim.SecondaryLimit, Status: 429}, time.Minute, "secondary"},
		"a time that would stop us for a year": {sim.Fault{Kind: sim.SecondaryLimit, Wait: 365 * 24 * time.Hour}, 2 * time.Hour, "secondary"},
		"a reset that is a year away":          {sim.Fault{Kind: sim.RateLimit, Wait: 365 * 24 * time.Hour}, 2 * time.Hour, "core"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, sim.Options{})
			c := s.client(t, organization)
			test.fault.Times = 1
			s.fail(t, test.fault)
			want := s.clock.Now().Add(test.wait)
			for range 3 {
				_, _, err := c.Find(t.Context(), "web-1")
				assertLimited(t, err, want, test.limit)
			}
			assert.Equal(t, 1, s.calls(sim.RouteFind), "calls that would be refused are not made")
			s.step(test.wait + time.Second)
			_, _, err := c.Find(t.Context(), "web-1")
			require.NoError(t, err)
		})
	}
}

func TestALimitOnTheRateIsNotTakenForALackOfRights(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message": "slow down"}`))
	})
	_, _, err := c.Find(t.Context(), "web-1")
	_, limited := errors.AsType[*github.RateLimited](err)
	assert.True(t, limited, "%v", err)
}

func TestAWrongClockDoesNotMakeTheWaitLonger(t *testing.T) {
	s := start(t, sim.Options{})
	ours := clocktesting.NewFakePassiveClock(s.clock.Now().Add(-45 * time.Minute))
	c := newClient(t, s.credentials(t, token), organization, github.WithClock(ours))
	s.fail(t, sim.Fault{Kind: sim.RateLimit, Wait: 10 * time.Minute, Times: 1})
	_, _, err := c.Find(t.Context(), "web-1")
	assertLimited(t, err, ours.Now().Add(10*time.Minute), "core")
}

func TestAServerWithoutRateLimits(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"total_count": 0, "runners": []}`))
	})
	for range 3 {
		_, _, err := c.Find(t.Context(), "web-1")
		require.NoError(t, err)
	}
}

func TestABudgetThatIsFilledEarlyIsUsed(t *testing.T) {
	remaining := "0"
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Remaining", remaining)
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
		_, _ = w.Write([]byte(`{"id": 1}`))
	})
	_, _, err := c.Find(t.Context(), "web-1")
	require.NoError(t, err)
	_, _, err = c.Find(t.Context(), "web-1")
	_, limited := errors.AsType[*github.RateLimited](err)
	require.True(t, limited, "%v", err)

	remaining = "10"
	_, _, err = c.Status(t.Context(), 1) // its budget is not known yet, and so it is tried
	require.NoError(t, err)
	_, _, err = c.Find(t.Context(), "web-1")
	require.NoError(t, err)
}

// About 20 runners used up 5000 calls an hour, as each was looked for in a list of all, again and again.
func TestWatchingRunnersThatDoNotChangeIsFree(t *testing.T) {
	s := start(t, sim.Options{Budget: 30})
	c := s.client(t, organization)
	var ids []int64
	for _, name := range []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19"} {
		r, err := c.Register(t.Context(), github.Registration{Name: name})
		require.NoError(t, err)
		ids = append(ids, r.ID)
	}
	for range 50 {
		for _, id := range ids {
			r, ok, err := c.Status(t.Context(), id)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, id, r.ID)
		}
	}
	calls := s.Calls()[sim.RouteStatus]
	assert.Equal(t, 1000, calls.Total)
	assert.Equal(t, 980, calls.NotModified)

	require.True(t, s.Set("r3", sim.Busy))
	r, _, err := c.Status(t.Context(), ids[3])
	require.NoError(t, err)
	assert.True(t, r.Busy, "a change is seen at once")
}

func assertLimited(t *testing.T, err error, until time.Time, limit string) {
	t.Helper()
	limited, ok := errors.AsType[*github.RateLimited](err)
	if assert.True(t, ok, "%v is not RateLimited", err) {
		assert.WithinDuration(t, until, limited.Until, 2*time.Second, "headers have whole seconds")
		assert.Equal(t, limit, limited.Limit)
	}
}
