// SPDX-License-Identifier: Apache-2.0

// Package github registers ephemeral runners with GitHub, looks after them and removes them.
// No call lists all runners, none takes longer than the client's timeout, and no error holds a credential.
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v88/github"

	"github.com/runner-identity/runner-identity/identity"
)

// A Client works on the runners of one scope with one set of credentials. It is safe for concurrent use.
type Client struct {
	scope   Scope
	path    string
	account *account
	options options
	groups  groups
	seen    seen
	proof   proof
}

// New makes a Client of its own. A program that has many scopes shares what can be shared with a Pool.
func New(c Credentials, s Scope, opts ...Option) (*Client, error) {
	return NewPool(opts...).Client(c, s)
}

// Register asks for a JIT configuration, with which the runner program starts and takes one job. The error wraps
// ErrNameTaken if a runner has that name.
func (c *Client) Register(ctx context.Context, r Registration) (Runner, error) {
	runner, err := c.register(ctx, r)
	if err != nil {
		return Runner{}, fmt.Errorf("register runner %q with %s: %w", r.Name, c.scope, err)
	}
	return runner, nil
}

func (c *Client) register(ctx context.Context, r Registration) (Runner, error) {
	if r.Name == "" {
		return Runner{}, errors.New("the name is empty")
	}
	if len(r.Name) > maxName {
		return Runner{}, &Denied{Mend: fmt.Sprintf("the name has %d characters: GitHub takes %d", len(r.Name), maxName)}
	}
	group, err := c.groupID(ctx, cmp.Or(r.Group, DefaultGroup))
	if err != nil {
		return Runner{}, err
	}
	var answer gh.JITRunnerConfig
	_, err = c.do(ctx, call{
		method:    http.MethodPost,
		operation: opRegister,
		path:      "/actions/runners/generate-jitconfig",
		body: gh.GenerateJITConfigRequest{
			Name: r.Name, RunnerGroupID: group, Labels: withSelfHosted(r.Labels), WorkFolder: new(cmp.Or(r.WorkDir, "_work")),
		},
		into: &answer,
	})
	if _, denied := errors.AsType[*Denied](err); denied {
		c.groups.set(nil) // the group may have been deleted and made again, with another id
	}
	if err != nil {
		return Runner{}, err
	}
	if answer.GetEncodedJITConfig() == "" || answer.GetRunner().GetID() == 0 {
		return Runner{}, errors.New("GitHub's answer has no JIT configuration")
	}
	runner := runnerOf(answer.GetRunner())
	runner.JITConfig = identity.NewSecret(answer.GetEncodedJITConfig())
	return runner, nil
}

// Find looks a runner up by its name, with one call that asks for this name alone.
func (c *Client) Find(ctx context.Context, name string) (Runner, bool, error) {
	runner, found, err := c.find(ctx, name)
	if err != nil {
		return Runner{}, false, fmt.Errorf("find runner %q in %s: %w", name, c.scope, err)
	}
	return runner, found, nil
}

// Status asks how the runner of that id does. It is false if there is none: a runner that had its job is gone from GitHub.
// An answer that has not changed since the last call costs nothing of the rate limit.
func (c *Client) Status(ctx context.Context, id int64) (Runner, bool, error) {
	runner, found, err := c.status(ctx, id)
	if err != nil {
		return Runner{}, false, fmt.Errorf("status of runner %d in %s: %w", id, c.scope, err)
	}
	return runner, found, nil
}

// Remove removes the runner of that id. It is done if there is none. The error wraps ErrBusy if it runs a job.
func (c *Client) Remove(ctx context.Context, id int64) error {
	if err := c.remove(ctx, id); err != nil {
		return fmt.Errorf("remove runner %d from %s: %w", id, c.scope, err)
	}
	return nil
}

func (c *Client) remove(ctx context.Context, id int64) error {
	if id <= 0 {
		return errors.New("the id is not a positive number")
	}
	_, err := c.do(ctx, call{method: http.MethodDelete, operation: opRemove, path: runnerPath(id)})
	if hasStatus(err, http.StatusNotFound) {
		err = c.prove(ctx)
	}
	if err == nil {
		c.seen.forget(id)
	}
	return err
}

func runnerPath(id int64) string { return fmt.Sprintf("/actions/runners/%d", id) }

func runnerOf(r *gh.Runner) Runner {
	runner := Runner{ID: r.GetID(), Name: r.GetName(), Online: r.GetStatus() == "online", Busy: r.GetBusy()}
	for _, l := range r.Labels {
		runner.Labels = append(runner.Labels, l.GetName())
	}
	return runner
}

func withSelfHosted(labels []string) []string {
	const selfHosted = "self-hosted"
	if slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, selfHosted) }) {
		return labels
	}
	return append([]string{selfHosted}, labels...)
}
