// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// parallelism is how many runners of one deployment are worked on at a time: each waits for GitHub most of the time.
	parallelism = 10
	// passLimit is how long a pass starts new steps. A deployment with many runners at a slow GitHub goes on in its next
	// pass, after others had their turn.
	passLimit = 45 * time.Second
)

// result is what came of one step for one runner.
type result struct {
	of runner
	// gone is whether nothing is left of it.
	gone bool
	// marked is how it came to its end, if this step marked it.
	marked outcome
	// asked is whether GitHub answered, busy whether it said that the runner runs a job.
	asked, busy bool
	// trouble is why GitHub did not answer.
	trouble *trouble
	// refused is why the API server did not take the pod.
	refused *trouble
	err     error
}

// batches does a step for each runner, parallelism of them at a time, and keeps what came of it in the scope. Runners that need
// GitHub while it is in trouble are left for later. The API server's errors are returned, joined.
func (c *Controller) batches(ctx context.Context, s *scope, runners []runner, asks func(runner) bool, step func(runner) result) error {
	for batch := range slices.Chunk(runners, parallelism) {
		if c.late(s) {
			return nil
		}
		ready := slices.DeleteFunc(slices.Clone(batch), func(r runner) bool {
			return asks(r) && c.closed(ctx, s, r.record.target)
		})
		var errs []error
		for _, done := range parallel(ready, step) {
			c.merge(s, done)
			errs = append(errs, done.err)
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// merge keeps what came of a step.
func (c *Controller) merge(s *scope, done result) {
	r := done.of
	if done.marked != undecided {
		c.account(s, r, done.marked)
	}
	if done.busy {
		r.busyUntil = s.memory.ran(r, s.now)
	}
	s.put(r, done.gone)
	if done.gone {
		delete(s.memory.busy, r.record.uid)
	}
	s.asked = s.asked || done.asked
	if done.trouble != nil {
		c.stop(s, r.record.target, done.trouble)
	}
	if done.refused != nil {
		s.memory.refused, s.memory.refusedHash = done.refused, s.hash
	}
}

// account counts a runner that came to its end. It is called once for each: when its record is marked.
func (c *Controller) account(s *scope, r runner, how outcome) {
	c.Metrics.ended(how)
	switch how {
	case failed:
		s.memory.failed(s.now)
		c.reportFailed(s, r)
	case succeeded:
		s.memory.ended()
	}
}

// late is whether the pass has lasted long enough. The next one follows soon.
func (c *Controller) late(s *scope) bool {
	if c.Clock.Since(s.now) < passLimit {
		return false
	}
	s.wake = s.now
	return true
}

// parallel does all at once and gives the results in the order of the items.
func parallel[T, R any](items []T, do func(T) R) []R {
	results := make([]R, len(items))
	var all sync.WaitGroup
	for i, item := range items {
		all.Go(func() { results[i] = do(item) })
	}
	all.Wait()
	return results
}
