// SPDX-License-Identifier: Apache-2.0

// Package github is a GitHub for tests and for playing: the part of the REST API that self-hosted runners need, at "/" as on
// github.com and at "/api/v3/" as on an Enterprise Server. Credentials are checked for real, and runners have state.
package github

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Options set a Simulator up. The zero Options let nobody in.
type Options struct {
	// Tokens and Apps are who may come in.
	Tokens []Token
	Apps   []App
	// Scopes are what exists, such as "orgs/acme", "repos/acme/website", "enterprises/acme". Default: whatever is asked for.
	Scopes []string
	// Groups are the names of runner groups beside Default, in every organisation and enterprise.
	Groups []string
	// Budget is how many calls an hour an account has; registrations have twice as many of their own. Default: 5000.
	Budget int
	// TokenLifetime is that of the tokens of App installations. Default: an hour.
	TokenLifetime time.Duration
	// URL is where runner programs reach the simulator, for their JIT configurations. Default: where it was asked for one.
	URL string
	// Clock is the simulator's. Default: the machine's.
	Clock clock.PassiveClock
	// Log gets a line for each call.
	Log io.Writer
}

// A Simulator is an http.Handler. It is safe for concurrent use.
type Simulator struct {
	options Options
	mux     *http.ServeMux

	mu            sync.Mutex
	tokens        map[string]*account // by token; those of installations come and go
	installations map[int64]budgets
	runners       map[int64]*Runner
	sessions      map[string]int64 // runner id by the token of its session
	lastID        int64
	jobs          []*queued
	changed       chan struct{} // closes when a runner that waits for a job should look again
	calls         map[string]Calls
	faults        []*Fault
	renamed       map[string]string // scope → its new name
	groups        []Group
}

// New makes a Simulator.
func New(o Options) *Simulator {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Budget == 0 {
		o.Budget = 5000
	}
	if o.TokenLifetime == 0 {
		o.TokenLifetime = time.Hour
	}
	o.Apps = slices.Clone(o.Apps)
	s := &Simulator{
		options: o, mux: http.NewServeMux(),
		tokens: map[string]*account{}, installations: map[int64]budgets{}, renamed: map[string]string{},
	}
	for _, t := range o.Tokens {
		s.tokens[t.Value] = &account{scopes: t.Scopes, budgets: budgets{}}
	}
	s.changed = make(chan struct{})
	s.SetGroups(o.Groups...)
	s.reset()
	s.routes()
	s.controls()
	return s
}

// Reset forgets runners, sessions, jobs, counts, faults and used budgets. Credentials stay.
func (s *Simulator) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reset()
}

func (s *Simulator) reset() {
	s.runners, s.sessions = map[int64]*Runner{}, map[string]int64{}
	s.calls, s.faults, s.jobs = map[string]Calls{}, nil, nil
	s.wake()
	for _, a := range s.tokens {
		clear(a.budgets)
	}
}

// Rename moves a scope, such as "repos/acme/old": calls for it are redirected as GitHub does, runners are not moved.
func (s *Simulator) Rename(scope, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renamed[scope] = to
}

// SetScopes changes what exists.
func (s *Simulator) SetScopes(scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Scopes = scopes
}

// SetGroups changes which runner groups there are beside Default, whose id is 1: the next has 2, and so on.
func (s *Simulator) SetGroups(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = []Group{{ID: 1, Name: "Default", Default: true}}
	for i, name := range names {
		s.groups = append(s.groups, Group{ID: int64(i + 2), Name: name})
	}
}

// ServeHTTP answers a call.
func (s *Simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The Enterprise Server's base path and github.com's are the same API.
	if rest, ok := cutPath(r.URL.Path, "/api/v3"); ok {
		moved := r.Clone(r.Context())
		moved.URL.Path, moved.URL.RawPath = rest, ""
		moved.RequestURI = ""
		r = moved
	}
	s.mux.ServeHTTP(w, r)
}
