// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

const (
	pollSeconds   = 30
	attemptLimit  = 10 * time.Second
	connectLimit  = time.Minute
	reportLimit   = 2 * time.Minute
	leaveLimit    = 10 * time.Second
	firstPause    = 100 * time.Millisecond
	longestPause  = 5 * time.Second
	longestAnswer = 8 << 20
)

// client is a runner's side of the simulator's session pages.
type client struct {
	url     string
	session string
}

// refused is an answer of 400 or more.
type refused struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
}

func (e *refused) Error() string { return fmt.Sprintf("GitHub says %d: %s", e.Status, e.Message) }

// statusOf is that of a refusal, 0 for other errors and nil.
func statusOf(err error) int {
	if r, ok := errors.AsType[*refused](err); ok {
		return r.Status
	}
	return 0
}

// connect trades the JIT configuration for a session.
func (c *client) connect(ctx context.Context, config string) error {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	var answer struct{ Session string }
	err := c.retry(ctx, call{method: http.MethodPost, path: "", raw: []byte(config), into: &answer})
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	c.session = answer.Session
	return nil
}

// next waits for the session's job, as long as it takes.
func (c *client) next(ctx context.Context) (job.Job, error) {
	for {
		var j job.Job
		err := c.retry(ctx, call{
			method: http.MethodGet, path: fmt.Sprintf("/job?wait=%d", pollSeconds), into: &j, limit: attemptLimit + pollSeconds*time.Second,
		})
		if err != nil || j.ID != 0 {
			return j, err
		}
	}
}

// report tells the result of a step so far.
func (c *client) report(ctx context.Context, place int, r job.Result) error {
	ctx, cancel := context.WithTimeout(ctx, reportLimit)
	defer cancel()
	return c.retry(ctx, call{method: http.MethodPut, path: fmt.Sprintf("/job/steps/%d", place), body: r})
}

// finish tells the end of the job.
func (c *client) finish(ctx context.Context, end job.End) error {
	ctx, cancel := context.WithTimeout(ctx, reportLimit)
	defer cancel()
	return c.retry(ctx, call{method: http.MethodPut, path: "/job", body: end})
}

// leave ends the session of an idle runner. A refusal with 409 says that there is a job after all.
func (c *client) leave(ctx context.Context, keep bool) error {
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	idle := map[bool]string{true: "stay", false: "remove"}[keep]
	return c.retry(ctx, call{method: http.MethodDelete, path: "?idle=" + idle})
}

// A call is one request, by its path below the session's.
type call struct {
	method, path string
	raw          []byte
	body         any // JSON, if there is no raw body
	into         any
	limit        time.Duration
}

// retry repeats a call until it is answered by the simulator itself or ctx is done. ctx does not break an attempt off: a session
// that was given in that moment would have no owner.
func (c *client) retry(ctx context.Context, k call) error {
	if k.body != nil {
		raw, err := json.Marshal(k.body)
		if err != nil {
			return err
		}
		k.raw = raw
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := c.attempt(ctx, k)
		if status := statusOf(err); err == nil || status != 0 && status < http.StatusInternalServerError {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}

func (c *client) attempt(ctx context.Context, k call) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(k.limit, attemptLimit))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, k.method, strings.TrimSuffix(c.url, "/")+"/_sim/session"+k.path, bytes.NewReader(k.raw))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.session)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return read(resp, k.into)
}

func read(resp *http.Response, into any) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer))
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= http.StatusBadRequest:
		e := &refused{Status: resp.StatusCode}
		if json.Unmarshal(body, e) != nil {
			e.Message = http.StatusText(resp.StatusCode) // a page of something between us
		}
		return e
	case into == nil || len(body) == 0:
		return nil
	}
	return json.Unmarshal(body, into)
}
