// SPDX-License-Identifier: Apache-2.0

// Package runner stands in for GitHub's runner program: it takes one job from the GitHub simulator and does it. What a pod can see
// of the real program, such as the order of things in _temp and around the job-started hook, is the same here.
package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

// ErrStopped says that a job had to be broken off since the runner was told to end.
var ErrStopped = errors.New("the job was still running at the end of " + envGrace)

// Run registers, waits for a job, does it and reports. Its end is nil also if the job has failed: GitHub knows. Once ctx is done, an
// idle runner leaves, and one with a job finishes it within the grace.
func Run(ctx context.Context, o Options) error {
	s, err := parseJITConfig(o.JITConfig)
	if err != nil {
		return err
	}
	c := &client{url: s.ServerURL}
	if err := c.connect(ctx, o.JITConfig); err != nil {
		return err
	}
	o.say("√ Connected to GitHub as %s", s.AgentName)
	j, ok, err := o.wait(ctx, c)
	if err != nil || !ok {
		return err
	}
	o.say("Running job: %d", j.ID)
	return o.do(ctx, c, newWorker(o, s, c), j)
}

func (o Options) say(format string, args ...any) {
	fmt.Fprintf(o.Log, format+"\n", args...)
}

// polled is what waiting for a job came to.
type polled struct {
	job job.Job
	err error
}

// wait is false if the runner was told to end and has left.
func (o Options) wait(ctx context.Context, c *client) (job.Job, bool, error) {
	o.say("Listening for Jobs")
	polling, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	result := make(chan polled, 1)
	go func() {
		j, err := c.next(polling)
		result <- polled{j, err}
	}()
	select {
	case p := <-result:
		return p.job, p.err == nil, p.err
	case <-ctx.Done():
	}
	err := c.leave(polling, o.Keep)
	if statusOf(err) == http.StatusConflict { // a job is on its way to us
		p := <-result
		return p.job, p.err == nil, p.err
	}
	o.say("Exiting without a job")
	return job.Job{}, false, err
}

// do does the job and tells its end.
func (o Options) do(ctx context.Context, c *client, w *worker, j job.Job) error {
	working, stop := o.graceful(ctx)
	defer stop()
	end := w.run(working, j)
	o.say("Job %d completed with result: %s %s", j.ID, end.Conclusion, end.Problem)
	err := c.finish(context.WithoutCancel(ctx), end)
	if working.Err() != nil {
		return errors.Join(context.Cause(working), err)
	}
	return err
}

// graceful is done the grace after ctx is.
func (o Options) graceful(ctx context.Context) (context.Context, context.CancelFunc) {
	working, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		o.say("Told to end: the job has %s more", o.Grace)
		time.AfterFunc(o.Grace, func() { stop(ErrStopped) })
	})
	return working, func() {
		forget()
		stop(nil)
	}
}
