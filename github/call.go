// SPDX-License-Identifier: Apache-2.0

package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	gh "github.com/google/go-github/v88/github"
)

// operation is what a call is for. GitHub takes operations from different budgets.
type operation string

const (
	opRegister operation = "register"
	opFind     operation = "find"
	opStatus   operation = "status"
	opRemove   operation = "remove"
	opGroups   operation = "groups"
)

// errNotModified is GitHub's answer to a conditional call.
var errNotModified = errors.New("not modified")

// call is one call of the REST API.
type call struct {
	method    string
	operation operation
	path      string // below the scope's
	query     url.Values
	etag      string // of the answer that we have
	body      any
	into      any
}

// do makes one call within the client's timeout. Its errors are this package's.
func (c *Client) do(ctx context.Context, k call) (*gh.Response, error) {
	if err := c.account.limits.check(k.operation); err != nil {
		return nil, err
	}
	// A deadline of the call, not of the HTTP exchange: callers that queue for one App token share its slowness instead
	// of adding theirs to it.
	ctx, cancel := context.WithTimeout(ctx, c.options.timeout)
	defer cancel()
	req, err := c.request(ctx, k)
	if err != nil {
		return nil, err
	}
	resp, err := c.account.api.Do(req, k.into)
	if resp != nil && resp.Response != nil {
		c.account.limits.observe(k.operation, resp.Header)
	}
	if err = c.explain(k, err); err == nil || errors.Is(err, errNotModified) {
		c.proof.set(c.options.clock.Now())
	}
	return resp, err
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	target := c.path + k.path
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	req, err := c.account.api.NewRequest(ctx, k.method, target, k.body)
	if err != nil {
		return nil, err
	}
	if k.etag != "" {
		req.Header.Set("If-None-Match", k.etag)
	}
	return req, nil
}
