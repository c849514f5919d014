// SPDX-License-Identifier: Apache-2.0

// Package aws is AWS as a workload meets it: STS, ECR, ECR Public and the registries' login, on loopback. It checks for
// real, in the real wire formats and with the real error codes, whatever AWS would check: nothing is let through because
// it is a test.
package aws

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// A Server is the simulated cloud. It is an http.Handler for all its services: a request says itself which one it is for.
type Server struct {
	config    Config
	clock     clock.Clock
	log       *slog.Logger
	providers []*provider
	faults    sim.Faults
	calls     sim.Calls
	mux       *http.ServeMux
	listener  *httptest.Server

	mu        sync.Mutex // guards what follows
	sessions  map[string]session
	logins    map[loginKey]login
	lifetimes Lifetimes
}

// Lifetimes are how long what the simulator issues is good for.
type Lifetimes struct {
	// Login is a registry login's life.
	Login time.Duration
	// Session, if it is not zero, is the longest that an STS session lives.
	Session time.Duration
}

// New makes a Server. The error names the part of the config that is wrong.
func New(c Config) (*Server, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	s := &Server{
		config:   c,
		clock:    c.Clock,
		log:      cmp.Or(c.Logger, slog.New(slog.DiscardHandler)),
		faults:   newFaults(),
		sessions: map[string]session{},
		logins:   map[loginKey]login{},
	}
	if s.clock == nil {
		s.clock = clock.RealClock{}
	}
	for _, i := range c.Issuers {
		s.providers = append(s.providers, &provider{Issuer: i, keys: &sim.Keys{URL: i.JWKS, Client: i.Client}})
	}
	if err := s.SetLifetimes(s.configured()); err != nil {
		return nil, err
	}
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("POST /{$}", s.api)
	s.mux.HandleFunc("GET /v2/{$}", s.registry)
	s.control()
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Start listens on a free port of the loopback interface and returns the URL to use as every service's endpoint.
func (s *Server) Start() string {
	s.listener = httptest.NewServer(s)
	return s.listener.URL
}

// Close ends what Start began. Calls that are being slowed down are cut off.
func (s *Server) Close() {
	if s.listener != nil {
		s.listener.CloseClientConnections()
		s.listener.Close()
	}
}

// SetLifetimes changes how long what is issued from now on lives. A zero Login means 12 hours.
func (s *Server) SetLifetimes(l Lifetimes) error {
	if l.Login < 0 || l.Session < 0 {
		return fmt.Errorf("lifetimes login %s, session %s: must not be negative", l.Login, l.Session)
	}
	l.Login = cmp.Or(l.Login, LoginLifetime)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lifetimes = l
	return nil
}

// Expire ends all sessions and logins that were issued so far, as if their time had come.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for k, v := range s.sessions {
		v.expires = earlier(v.expires, now)
		s.sessions[k] = v
	}
	for k, v := range s.logins {
		v.expires = earlier(v.expires, now)
		s.logins[k] = v
	}
}

// Reset forgets counts and faults and puts the lifetimes back. What was issued stays good.
func (s *Server) Reset() {
	s.faults.Clear()
	s.calls.Clear()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lifetimes = s.configured()
}

func (s *Server) configured() Lifetimes {
	return Lifetimes{Login: cmp.Or(s.config.LoginLifetime, LoginLifetime), Session: s.config.SessionLifetime}
}

func (s *Server) current() Lifetimes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lifetimes
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
