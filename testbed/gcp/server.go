// SPDX-License-Identifier: Apache-2.0

// Package gcp is Google Cloud as a workload meets it: STS, IAM credentials, GKE's metadata server, Artifact Registry and the
// login of its registries, on loopback. It checks for real, in the real wire formats and with the real error texts, whatever
// Google would check: nothing is let through because it is a test.
package gcp

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// The services. Metadata is GKE's metadata server, Registry the registries' own login.
const (
	STS              = "sts"
	IAMCredentials   = "iamcredentials"
	ArtifactRegistry = "artifactregistry"
	Metadata         = "metadata"
	Registry         = "registry"
)

// A Server is the simulated cloud. It is an http.Handler for all its services but the metadata server, which is one for each
// pod: see MetadataServer.
type Server struct {
	config Config
	clock  clock.Clock
	log    *slog.Logger
	mux    *http.ServeMux
	calls  sim.Calls
	faults sim.Faults

	providers []*provider
	listeners []*httptest.Server
	// google signs ID tokens. Its key is made when the first is asked for.
	google func() (*sim.Issuer, error)

	mu     sync.Mutex // guards what follows
	tokens map[tokenKey]token
	lives  Lifetimes
}

// Lifetimes are how long what the simulator issues is good for. Zero is Google's own hour.
type Lifetimes struct {
	// Federated is the longest life of STS's tokens, which are cut short by the token that was traded in any case.
	Federated time.Duration
	// Account is the longest life of a Google service account's tokens.
	Account time.Duration
}

// New makes a Server. The error names the part of the config that is wrong.
func New(c Config) (*Server, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	s := &Server{
		config: c,
		clock:  c.Clock,
		log:    cmp.Or(c.Logger, slog.New(slog.DiscardHandler)),
		mux:    http.NewServeMux(),
		faults: sim.Faults{
			Services: []string{STS, IAMCredentials, ArtifactRegistry, Metadata, Registry},
			Kinds:    []sim.Kind{sim.Throttle, sim.Broken, sim.Slow, sim.AccessDenied, sim.ClockSkew, sim.HangUp, sim.Answer},
		},
		tokens: map[tokenKey]token{},
		lives:  c.Lifetimes,
		google: sync.OnceValues(func() (*sim.Issuer, error) { return sim.NewIssuer(googleIssuer) }),
	}
	if s.clock == nil {
		s.clock = clock.RealClock{}
	}
	for _, p := range c.Providers {
		s.providers = append(s.providers, &provider{Provider: p, keys: &sim.Keys{URL: p.JWKS, Client: p.Client}})
	}
	s.routes()
	sim.Control{Calls: &s.calls, Faults: &s.faults, Expire: s.Expire, Reset: s.Reset}.Serve(s.mux)
	return s, nil
}

func (s *Server) routes() {
	s.mux.HandleFunc("POST /v1/token", s.serve(STS, "Token", s.token))
	s.mux.HandleFunc("POST /v1/identitybindingtoken", s.serve(STS, "IdentityBindingToken", s.token))
	s.mux.HandleFunc("POST /v1/introspect", s.serve(STS, "Introspect", s.introspect))
	s.mux.HandleFunc("POST /v1/projects/-/serviceAccounts/{account}", s.serve(IAMCredentials, "GenerateAccessToken", s.generateAccessToken))
	s.mux.HandleFunc("GET /v1/projects/{project}/locations/{location}/repositories/{repository}", s.serve(ArtifactRegistry, "GetRepository", s.getRepository))
	s.mux.HandleFunc("POST /v1/projects/{project}/locations/{location}/repositories/{repository}", s.serve(ArtifactRegistry, "TestIamPermissions", s.testIamPermissions))
	s.mux.HandleFunc("GET /v2/token", s.serve(Registry, "Token", s.registryToken))
	s.mux.HandleFunc("GET /v2/{$}", s.serve(Registry, "Ping", s.ping))
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Start listens on a free port of the loopback interface and returns the URL to use as every service's endpoint.
func (s *Server) Start() string { return s.listen(s).URL }

func (s *Server) listen(h http.Handler) *httptest.Server {
	l := httptest.NewServer(h)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, l)
	return l
}

// Close ends what Start and StartMetadata began. Calls that are being slowed down are cut off.
func (s *Server) Close() {
	s.mu.Lock()
	listeners := s.listeners
	s.listeners = nil
	s.mu.Unlock()
	for _, l := range listeners {
		l.CloseClientConnections()
		l.Close()
	}
}

// SetLifetimes changes how long what is issued from now on lives.
func (s *Server) SetLifetimes(l Lifetimes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives = l
}

func (s *Server) lifetimes() Lifetimes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Lifetimes{Federated: cmp.Or(s.lives.Federated, longest), Account: s.lives.Account}
}

// Inject adds a fault. Of several that hit a call the oldest is taken. The error names the field that is wrong.
func (s *Server) Inject(f sim.Fault) error { return s.faults.Inject(f) }

// ClearFaults makes everything go well again.
func (s *Server) ClearFaults() { s.faults.Clear() }

// Calls is how often an action was called, answered or not, since the start or the last Reset.
func (s *Server) Calls(service, action string) int { return s.calls.Count(service, action) }

// History is the last 1000 calls, oldest first.
func (s *Server) History() []sim.Call { return s.calls.History() }

// Reset forgets counts and faults and puts the lifetimes back. What was issued stays good.
func (s *Server) Reset() {
	s.faults.Clear()
	s.calls.Clear()
	s.SetLifetimes(s.config.Lifetimes)
}
