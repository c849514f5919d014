// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"
)

// together is how long an access token is handed out again: logins to several hosts, which all take the same token, are made
// within it. It is short because the token itself is the login: one that is renewed has to be a new one.
const together = 30 * time.Second

// tokens makes one exchange at a time for a key, and lets those that follow closely have its token too.
type tokens struct {
	clock  clock.PassiveClock
	flight singleflight.Group
	mu     sync.Mutex
	byKey  map[string]shared
}

// shared is a token and the time until which it is handed out again.
type shared struct {
	token accessToken
	until time.Time
}

func newTokens(c clock.PassiveClock) *tokens {
	return &tokens{clock: c, byKey: map[string]shared{}}
}

// get returns the token of a key; it calls fetch if there is none.
func (c *tokens) get(ctx context.Context, key string, fetch func(context.Context) (accessToken, error)) (accessToken, error) {
	if t, ok := c.cached(key); ok {
		return t, nil
	}
	answer := c.flight.DoChan(key, func() (any, error) {
		if t, ok := c.cached(key); ok {
			return t, nil
		}
		// Others may wait for this very call: the one who came first must not take it down by giving up.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		t, err := fetch(ctx)
		if err == nil {
			c.put(key, t)
		}
		return t, err
	})
	select {
	case <-ctx.Done():
		return accessToken{}, ctx.Err()
	case a := <-answer:
		t, _ := a.Val.(accessToken)
		return t, a.Err
	}
}

// drop forgets the token of a key.
func (c *tokens) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byKey, key)
}

func (c *tokens) cached(key string) (accessToken, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.byKey[key]
	return s.token, ok && c.clock.Now().Before(s.until)
}

// put stores a token and forgets those that are not handed out any more.
func (c *tokens) put(key string, t accessToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	for k, s := range c.byKey {
		if !now.Before(s.until) {
			delete(c.byKey, k)
		}
	}
	c.byKey[key] = shared{token: t, until: now.Add(min(together, t.expires.Sub(now)/10))}
}
