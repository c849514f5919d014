// SPDX-License-Identifier: Apache-2.0

// Package memo keeps what a cloud handed out, so that it is not asked again for the same thing at once. What it keeps is good for
// one key alone, and the key has to hold all that tells two answers apart.
package memo

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/clock"
)

// A Memo makes one call at a time for a key, and hands its value out again until a time that the value decides. It keeps no
// errors. Make it with New.
type Memo[V any] struct {
	clock   clock.PassiveClock
	timeout time.Duration
	until   func(value V, now time.Time) time.Time
	flight  singleflight.Group
	mu      sync.Mutex
	byKey   map[string]kept[V]
}

type kept[V any] struct {
	value V
	until time.Time
}

// New makes a Memo. One call may take timeout; until says how long a value that came now is handed out again.
func New[V any](c clock.PassiveClock, timeout time.Duration, until func(value V, now time.Time) time.Time) *Memo[V] {
	return &Memo[V]{clock: c, timeout: timeout, until: until, byKey: map[string]kept[V]{}}
}

// Get returns the value of a key; it calls fetch if there is none.
func (m *Memo[V]) Get(ctx context.Context, key string, fetch func(context.Context) (V, error)) (V, error) {
	if v, ok := m.recall(key); ok {
		return v, nil
	}
	answer := m.flight.DoChan(key, func() (any, error) {
		if v, ok := m.recall(key); ok {
			return v, nil
		}
		// Others may wait for this very call: the one who came first must not take it down by giving up.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.timeout)
		defer cancel()
		v, err := fetch(ctx)
		if err == nil {
			m.keep(key, v)
		}
		return v, err
	})
	select {
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	case a := <-answer:
		v, _ := a.Val.(V)
		return v, a.Err
	}
}

// Drop forgets the value of a key.
func (m *Memo[V]) Drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}

func (m *Memo[V]) recall(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.byKey[key]
	return k.value, ok && m.clock.Now().Before(k.until)
}

// keep stores a value and forgets those that are not handed out any more.
func (m *Memo[V]) keep(key string, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	for k, v := range m.byKey {
		if !now.Before(v.until) {
			delete(m.byKey, k)
		}
	}
	m.byKey[key] = kept[V]{value: value, until: m.until(value, now)}
}
