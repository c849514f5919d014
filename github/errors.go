// SPDX-License-Identifier: Apache-2.0

package github

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrBusy is wrapped when a runner cannot be removed because it runs a job.
	ErrBusy = errors.New("the runner is running a job")
	// ErrNameTaken is wrapped when a runner of that name is registered already. The answer to an earlier Register may have
	// been lost: Find the runner, Remove it, and register again.
	ErrNameTaken = errors.New("a runner of that name is registered already")
)

// RateLimited says that GitHub takes no calls with these credentials before Until. No call is made until then.
type RateLimited struct {
	Until time.Time
	// Limit is the budget that is used up: "core", "actions_runner_registration", or "secondary" for calls made too fast.
	Limit string
}

// Error names the budget and the time.
func (e *RateLimited) Error() string {
	return fmt.Sprintf("GitHub's rate limit %q is used up until %s", e.Limit, e.Until.UTC().Format(time.RFC3339))
}

// Denied says that GitHub refused and goes on refusing until a person changes something. An error that is none of this
// package's types is worth a retry with back-off.
type Denied struct {
	// Status is GitHub's HTTP status, 0 if GitHub was not asked.
	Status int
	// Said is GitHub's own message.
	Said string
	// Mend is one sentence that says what to change.
	Mend string
}

// Error is what GitHub said and what mends it.
func (e *Denied) Error() string {
	if e.Status == 0 {
		return e.Mend
	}
	return fmt.Sprintf("GitHub answered %d (%s): %s", e.Status, e.Said, e.Mend)
}
