// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/pace"
)

const (
	// atOnce bounds the calls of one provider that are under way: a throttling STS takes about five a second.
	atOnce = 16
	// unused is after how long what is remembered of a call is dropped.
	unused = 24 * time.Hour
)

// A callKey says which calls are the same: identities that share an account and ask for the same make one call together.
type callKey struct {
	kind, provider, principal, account, host, settings string
}

// An outcome is what came of a call, and when to make it again.
type outcome struct {
	// credential is the newest that was obtained; a failed call keeps it.
	credential identity.Credential
	detail     string
	// at is when the last call that did not fail was made.
	at       time.Time
	err      error
	failures int
	// next is when the call is due again. Zero: never, the same call would fail the same way.
	next time.Time
}

// calls remembers calls of clouds and runs them beside the reconciler, each with a deadline: a cloud that is slow holds up
// nobody but those who ask for it. The zero value is ready.
type calls struct {
	mu      sync.Mutex
	entries map[callKey]*entry
	gates   map[string]chan struct{}
}

type entry struct {
	outcome
	made    bool
	running bool
	touched time.Time
}

// A call is one call to make.
type call struct {
	key     callKey
	timeout time.Duration
	clock   clock.PassiveClock
	// do makes the call. It returns a credential or a detail, and when the call is due again.
	do func(context.Context) (outcome, error)
}

// first reports whether this program sees an identity for the first time.
func (c *calls) first(identity client.ObjectKey, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(callKey{kind: "seen", account: identity.String()}, now)
	seen := e.made
	e.made = true
	return !seen
}

// seed remembers an outcome of an earlier life of this program, unless there is a newer one.
func (c *calls) seed(key callKey, o outcome, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entry(key, now); !e.made && !e.running {
		e.outcome, e.made = o, true
	}
}

// outcome returns what came of a call; it makes the call if it is due. Whoever makes it waits for it until patience is
// closed. The second result is false while there is no outcome yet.
func (c *calls) outcome(ctx context.Context, call call, patience <-chan struct{}) (outcome, bool) {
	now := call.clock.Now()
	c.mu.Lock()
	e := c.entry(call.key, now)
	switch {
	case e.running:
		defer c.mu.Unlock()
		return e.outcome, false
	case e.made && !e.due(now):
		defer c.mu.Unlock()
		return e.outcome, true
	}
	e.running = true
	gate := c.gate(call.key.provider)
	c.mu.Unlock()

	done := make(chan struct{})
	go func() {
		defer close(done)
		c.finish(e, call, call.run(context.WithoutCancel(ctx), gate))
	}()
	select {
	case <-done:
	case <-patience:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return e.outcome, !e.running
}

func (c *calls) finish(e *entry, call call, got outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if got.err == nil {
		got.at = call.clock.Now()
		e.outcome = got
	} else {
		e.err = got.err
		e.failures++
		e.next = pace.RetryAt(got.err, e.failures, call.clock.Now())
	}
	e.made, e.running = true, false
}

// run makes the call once the provider's gate lets it through. A plug-in that panics fails this call and nothing else.
func (c call) run(ctx context.Context, gate chan struct{}) (o outcome) {
	gate <- struct{}{}
	defer func() { <-gate }()
	defer func() {
		if p := recover(); p != nil {
			// Not the value: it may repeat the token. The stack has addresses only.
			logr.FromContextOrDiscard(ctx).Info("provider panicked", "provider", c.key.provider, "stack", string(debug.Stack()))
			o = outcome{err: fmt.Errorf("provider %s panicked with a %T: see the controller's log", c.key.provider, p)}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	o, err := c.do(ctx)
	o.err = err
	return o
}

// entry is what is remembered of a call. The lock is the caller's.
func (c *calls) entry(key callKey, now time.Time) *entry {
	if c.entries == nil {
		c.entries = map[callKey]*entry{}
	}
	e, ok := c.entries[key]
	if !ok {
		maps.DeleteFunc(c.entries, func(_ callKey, e *entry) bool { return !e.running && now.Sub(e.touched) > unused })
		e = &entry{}
		c.entries[key] = e
	}
	e.touched = now
	return e
}

func (c *calls) gate(provider string) chan struct{} {
	if c.gates == nil {
		c.gates = map[string]chan struct{}{}
	}
	if c.gates[provider] == nil {
		c.gates[provider] = make(chan struct{}, atOnce)
	}
	return c.gates[provider]
}

func (o outcome) due(now time.Time) bool { return !o.next.IsZero() && !now.Before(o.next) }
