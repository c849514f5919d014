// SPDX-License-Identifier: Apache-2.0

package memo_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/identity/internal/memo"
)

// forAMinute is a memo of numbers and the clock that it is told time by.
func forAMinute() (*memo.Memo[int64], *clocktesting.FakeClock) {
	c := clocktesting.NewFakeClock(time.Now())
	return memo.New(c, time.Hour, func(_ int64, now time.Time) time.Time { return now.Add(time.Minute) }), c
}

// counter gives 1, 2, 3 and so on.
func counter() func(context.Context) (int64, error) {
	var n atomic.Int64
	return func(context.Context) (int64, error) { return n.Add(1), nil }
}

func TestAValueIsHandedOutAgainUntilItsTime(t *testing.T) {
	m, c := forAMinute()
	next := counter()
	var got []int64
	for range 3 {
		v, err := m.Get(t.Context(), "a", next)
		require.NoError(t, err)
		got = append(got, v)
		c.Step(30 * time.Second)
	}
	assert.Equal(t, []int64{1, 1, 2}, got)
	v, err := m.Get(t.Context(), "b", next)
	require.NoError(t, err)
	assert.Equal(t, int64(3), v, "another key is another value")
	m.Drop("b")
	v, err = m.Get(t.Context(), "b", next)
	require.NoError(t, err)
	assert.Equal(t, int64(4), v, "it was forgotten")
}

func TestAnErrorIsNotKept(t *testing.T) {
	m, _ := forAMinute()
	broken := errors.New("no")
	_, err := m.Get(t.Context(), "a", func(context.Context) (int64, error) { return 7, broken })
	require.ErrorIs(t, err, broken)
	v, err := m.Get(t.Context(), "a", counter())
	require.NoError(t, err)
	assert.Equal(t, int64(1), v)
}

func TestWhoeverGivesUpDoesNotTakeTheCallDown(t *testing.T) {
	m, _ := forAMinute()
	ctx, giveUp := context.WithCancel(t.Context())
	began, answer := make(chan struct{}), make(chan int64)
	var calls atomic.Int64
	fetch := func(ctx context.Context) (int64, error) {
		calls.Add(1)
		close(began)
		select {
		case v := <-answer:
			return v, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	first := make(chan error, 1)
	go func() {
		_, err := m.Get(ctx, "a", fetch)
		first <- err
	}()
	<-began
	second := make(chan int64, 1)
	go func() {
		v, _ := m.Get(t.Context(), "a", fetch)
		second <- v
	}()
	giveUp()
	require.ErrorIs(t, <-first, context.Canceled)
	answer <- 7
	assert.Equal(t, int64(7), <-second)
	assert.Equal(t, int64(1), calls.Load())
}
