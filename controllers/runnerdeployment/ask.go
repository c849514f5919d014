// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/runner-identity/runner-identity/github"
)

// askLimit is how long the calls for one step of one runner may take together.
const askLimit = 20 * time.Second

// open gives the GitHub client of a target, or why there is none. A pass opens each once.
func (c *Controller) open(ctx context.Context, s *scope, t target) opened {
	if known, ok := s.hubs[t]; ok {
		return known
	}
	key := hubKey{secret: c.Credentials, scope: t.scope}
	if t.secret != "" || key.secret.Name == "" {
		key.secret = types.NamespacedName{Namespace: s.deployment.Namespace, Name: t.secret}
	}
	made, problem := c.hubs.open(ctx, key, s.deleting())
	s.hubs[t] = opened{hub: made, trouble: problem}
	return s.hubs[t]
}

// closed is whether GitHub cannot be asked about runners of a target now. The pass remembers why, and when to come back.
func (c *Controller) closed(ctx context.Context, s *scope, t target) bool {
	problem := c.open(ctx, s, t).trouble
	if problem == nil {
		return false
	}
	s.github = cmp.Or(s.github, problem)
	s.wake = sooner(s.wake, problem.until)
	return true
}

// ask makes the calls of one step. The target was opened before: steps of other runners read it at the same time.
func (c *Controller) ask(ctx context.Context, s *scope, t target, calls func(context.Context, GitHub) error) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	return calls(ctx, s.hubs[t].hub.GitHub)
}

// stop makes no more calls to a target for a while, in this pass and in those of other deployments.
func (c *Controller) stop(s *scope, t target, why *trouble) {
	c.Metrics.trouble(why.reason)
	s.github = cmp.Or(s.github, why)
	s.wake = sooner(s.wake, why.until)
	if known := s.hubs[t]; known.trouble == nil {
		c.hubs.stop(known.hub, why)
		s.hubs[t] = opened{hub: known.hub, trouble: why}
	}
}

// troubleOf is what an answer of GitHub means; nil: it is an answer to go on with.
func (c *Controller) troubleOf(err error) *trouble {
	if err == nil || errors.Is(err, github.ErrBusy) {
		return nil
	}
	return githubTrouble(err, c.Clock.Now())
}
