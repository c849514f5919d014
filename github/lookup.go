// SPDX-License-Identifier: Apache-2.0

package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"

	gh "github.com/google/go-github/v88/github"
)

func (c *Client) find(ctx context.Context, name string) (Runner, bool, error) {
	if name == "" {
		return Runner{}, false, errors.New("the name is empty")
	}
	var answer gh.Runners
	_, err := c.do(ctx, call{
		method: http.MethodGet, operation: opFind, path: "/actions/runners",
		query: url.Values{"name": {name}, "per_page": {"100"}}, into: &answer,
	})
	if err != nil {
		return Runner{}, false, err
	}
	i := slices.IndexFunc(answer.Runners, func(r *gh.Runner) bool { return r.GetName() == name })
	if i >= 0 {
		return runnerOf(answer.Runners[i]), true, nil
	}
	// An old Enterprise Server ignores the filter and answers its first page: "not there" would be a guess.
	if answer.TotalCount > len(answer.Runners) {
		return Runner{}, false, errors.New("the server ignores the filter by name: GitHub Enterprise Server must be upgraded")
	}
	return Runner{}, false, nil
}

func (c *Client) status(ctx context.Context, id int64) (Runner, bool, error) {
	if id <= 0 {
		return Runner{}, false, errors.New("the id is not a positive number")
	}
	before := c.seen.answer(id)
	var answer gh.Runner
	resp, err := c.do(ctx, call{method: http.MethodGet, operation: opStatus, path: runnerPath(id), etag: before.etag, into: &answer})
	switch {
	case errors.Is(err, errNotModified):
		return before.runner, true, nil
	case hasStatus(err, http.StatusNotFound):
		c.seen.forget(id)
		return Runner{}, false, c.prove(ctx)
	case err != nil:
		return Runner{}, false, err
	}
	runner := runnerOf(&answer)
	c.seen.keep(id, answered{etag: resp.Header.Get("ETag"), runner: runner})
	return runner, true, nil
}

// maxSeen bounds the memory that a Client spends on answers.
const maxSeen = 4096

// seen holds the last answer for each runner with its ETag: GitHub does not count a call that is answered "not modified".
type seen struct {
	mu   sync.Mutex
	byID map[int64]answered
}

type answered struct {
	etag   string
	runner Runner
}

func (s *seen) answer(id int64) answered {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

func (s *seen) keep(id int64, a answered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil || len(s.byID) >= maxSeen {
		s.byID = map[int64]answered{}
	}
	s.byID[id] = a
}

func (s *seen) forget(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}
