// SPDX-License-Identifier: Apache-2.0

package aws

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

// A Call is what the simulator remembers of a call.
type Call struct {
	Time    time.Time `json:"time"`
	Service string    `json:"service"`
	Action  string    `json:"action"`
	// Principal is the role asked for or the caller, "" if it is not known.
	Principal string `json:"principal,omitempty"`
	// Outcome is OK or the error code.
	Outcome string `json:"outcome"`
	// Reason is why a trust policy did not let a token in. AWS never tells; a person at a simulator wants to know.
	Reason    string `json:"reason,omitempty"`
	RequestID string `json:"requestID"`
}

type counted struct{ service, action string }

type calls struct {
	mu      sync.Mutex
	history []Call
	counts  map[counted]int
}

func (c *calls) add(call Call) {
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

func (c *calls) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history, c.counts = nil, nil
}

// summary is the counts, in the order of service and action.
func (c *calls) summary() []countReply {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]countReply, 0, len(c.counts))
	for k, n := range c.counts {
		list = append(list, countReply{Service: k.service, Action: k.action, Count: n})
	}
	slices.SortFunc(list, func(a, b countReply) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Action, b.Action))
	})
	return list
}

// Calls is how often an action was called, answered or not, since the start or the last Reset.
func (s *Server) Calls(service, action string) int {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	return s.calls.counts[counted{service, action}]
}

// History is the last 1000 calls, oldest first.
func (s *Server) History() []Call {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	return slices.Clone(s.calls.history)
}
