// SPDX-License-Identifier: Apache-2.0

package github

import (
	"cmp"
	"net/http"
	"strconv"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// secondary is the limit on calls made too fast. It holds back every operation.
	secondary = "secondary"
	// secondaryWait is what GitHub's documentation asks for if its answer does not say how long to wait.
	secondaryWait = time.Minute
	// longestWait keeps a nonsense header from blocking an account: GitHub's windows are an hour long.
	longestWait = 2 * time.Hour
)

// limits keeps, for one account, what GitHub's answers said about the budgets, so that a call that would be refused is not
// made: refused calls make a secondary limit last longer.
type limits struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	until   map[string]time.Time // when a used-up budget is filled again
	budgets map[operation]string // the budget that an operation is taken from
}

func newLimits(c clock.PassiveClock) *limits {
	return &limits{clock: c, until: map[string]time.Time{}, budgets: map[operation]string{}}
}

// check is an error if a call for the operation would be refused.
func (l *limits) check(op operation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for _, budget := range []string{secondary, l.budgets[op]} {
		if until := l.until[budget]; until.After(now) {
			return &RateLimited{Until: until, Limit: budget}
		}
	}
	return nil
}

// observe learns from the headers of any answer.
func (l *limits) observe(op operation, h http.Header) {
	remaining := h.Get("X-RateLimit-Remaining")
	if remaining == "" {
		return // an Enterprise Server without rate limits
	}
	budget := cmp.Or(h.Get("X-RateLimit-Resource"), "core")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budgets[op] = budget
	if remaining == "0" {
		l.until[budget] = l.reset(h)
		return
	}
	delete(l.until, budget)
}

// refused is the error for an answer that refused a call for its rate, which observe has seen.
func (l *limits) refused(op operation, h http.Header) *RateLimited {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if budget := l.budgets[op]; h.Get("Retry-After") == "" && l.until[budget].After(now) {
		return &RateLimited{Until: l.until[budget], Limit: budget}
	}
	wait := secondaryWait
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil && seconds > 0 {
		wait = time.Duration(seconds) * time.Second
	}
	l.until[secondary] = now.Add(min(wait, longestWait))
	return &RateLimited{Until: l.until[secondary], Limit: secondary}
}

// reset is the time of the reset on our clock. GitHub gives it on its own, which the Date header shows.
func (l *limits) reset(h http.Header) time.Time {
	now := l.clock.Now()
	seconds, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return now.Add(secondaryWait)
	}
	theirs, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		theirs = now
	}
	return now.Add(min(time.Unix(seconds, 0).Sub(theirs), longestWait))
}
