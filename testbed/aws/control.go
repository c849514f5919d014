// SPDX-License-Identifier: Apache-2.0

package aws

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

const help = `PUT    /_sim/lifetimes  {"login":"1m","session":"15m"}, for what is issued from now on
`

type lifetimesRequest struct {
	Login   metav1.Duration `json:"login"`
	Session metav1.Duration `json:"session"`
}

// control adds the paths by which a person, with curl, does what tests do by method.
func (s *Server) control() {
	sim.Control{Calls: &s.calls, Faults: &s.faults, Expire: s.Expire, Reset: s.Reset, Help: help}.Serve(s.mux)
	s.mux.HandleFunc("PUT /_sim/lifetimes", sim.Take(func(l lifetimesRequest) error {
		return s.SetLifetimes(Lifetimes{Login: l.Login.Duration, Session: l.Session.Duration})
	}))
}

// Inject adds a fault. Of several that hit a call the oldest is taken. The error names the field that is wrong.
func (s *Server) Inject(f Fault) error { return s.faults.Inject(f) }

// Faults are those that are still to come, oldest first.
func (s *Server) Faults() []Fault { return s.faults.List() }

// ClearFaults makes everything go well again.
func (s *Server) ClearFaults() { s.faults.Clear() }

// Calls is how often an action was called, answered or not, since the start or the last Reset.
func (s *Server) Calls(service, action string) int { return s.calls.Count(service, action) }

// History is the last 1000 calls, oldest first.
func (s *Server) History() []sim.Call { return s.calls.History() }
