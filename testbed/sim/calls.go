// SPDX-License-Identifier: Apache-2.0

// Package sim is what simulated clouds have in common: they count calls, make them go wrong when told to, know an issuer's keys
// and can be steered over HTTP. It knows no cloud.
package sim

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// OK is the outcome of a call that was answered.
const OK = "OK"

// keptCalls bounds the history; counts go on.
const keptCalls = 1000

// A Call is what a simulator remembers of a call.
type Call struct {
	Time    time.Time `json:"time"`
	Service string    `json:"service"`
	Action  string    `json:"action"`
	// Principal is the identity asked for or the caller, "" if it is not known.
	Principal string `json:"principal,omitempty"`
	// Outcome is OK or the error code.
	Outcome string `json:"outcome"`
	// Reason is why a call was refused, for a person at a simulator: clouds do not tell.
	Reason string `json:"reason,omitempty"`
	// RequestID is the id that the answer has, of clouds that give each answer one.
	RequestID string `json:"requestID,omitempty"`
}

type counted struct{ service, action string }

// Calls counts calls and keeps the last ones. The zero value is ready.
type Calls struct {
	mu      sync.Mutex
	history []Call
	counts  map[counted]int
}

// Add remembers a call.
func (c *Calls) Add(call Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[counted]int{}
	}
	c.counts[counted{call.Service, call.Action}]++
	if len(c.history) == keptCalls {
		c.history = slices.Delete(c.history, 0, 1)
	}
	c.history = append(c.history, call)
}

// Clear forgets all.
func (c *Calls) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history, c.counts = nil, nil
}

// Count is how often an action was called, answered or not.
func (c *Calls) Count(service, action string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[counted{service, action}]
}

// History is the last 1000 calls, oldest first.
func (c *Calls) History() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.history)
}

// A Count is how often one action was called.
type Count struct {
	Service string `json:"service"`
	Action  string `json:"action"`
	Count   int    `json:"count"`
}

// Summary is all counts, in the order of service and action.
func (c *Calls) Summary() []Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]Count, 0, len(c.counts))
	for k, n := range c.counts {
		list = append(list, Count{Service: k.service, Action: k.action, Count: n})
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Action, b.Action))
	})
	return list
}
