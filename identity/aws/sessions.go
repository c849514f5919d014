// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"
)

// expiryWindow is how long before its end a session is no longer handed out, so that no call is made with one that ends
// on the way.
const expiryWindow = 5 * time.Minute

// sessions keeps sessions until shortly before they end, and makes one at a time for a key: STS throttles web identities at a
// few calls a second and gives no way to raise that.
type sessions struct {
	clock  clock.PassiveClock
	flight singleflight.Group
	mu     sync.Mutex
	byKey  map[string]session
}

// A session is a set of temporary keys and the time until which they are handed out.
type session struct {
	keys  sdk.Credentials
	until time.Time
}

func newSessions(c clock.PassiveClock) *sessions {
	return &sessions{clock: c, byKey: map[string]session{}}
}

// get returns the session of a key; it calls fetch if there is none.
func (c *sessions) get(ctx context.Context, key string, fetch func(context.Context) (sdk.Credentials, error)) (sdk.Credentials, error) {
	if keys, ok := c.cached(key); ok {
		return keys, nil
	}
	answer := c.flight.DoChan(key, func() (any, error) {
		if keys, ok := c.cached(key); ok {
			return keys, nil
		}
		// Others may wait for this very call: the one who came first must not take it down by giving up.
		shared, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		keys, err := fetch(shared)
		if err != nil {
			return sdk.Credentials{}, err
		}
		c.put(key, keys)
		return keys, nil
	})
	select {
	case <-ctx.Done():
		return sdk.Credentials{}, ctx.Err()
	case a := <-answer:
		keys, _ := a.Val.(sdk.Credentials)
		return keys, a.Err
	}
}

// drop forgets the session of a key.
func (c *sessions) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byKey, key)
}

func (c *sessions) cached(key string) (sdk.Credentials, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.byKey[key]
	return s.keys, ok && c.clock.Now().Before(s.until)
}

// put stores a session and forgets those that have ended. Of a session shorter than two windows, half is used.
func (c *sessions) put(key string, keys sdk.Credentials) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	for k, s := range c.byKey {
		if !now.Before(s.until) {
			delete(c.byKey, k)
		}
	}
	window := min(expiryWindow, keys.Expires.Sub(now)/2)
	c.byKey[key] = session{keys: keys, until: keys.Expires.Add(-window)}
}
