// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/github"
	sim "github.com/runner-identity/runner-identity/testbed/github"
)

const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

var (
	organization = github.Scope{Organization: "acme"}
	repository   = github.Scope{Repository: "acme/website"}
	enterprise   = github.Scope{Enterprise: "acme-inc"}
)

// fixture is a simulator with a clock that stands still.
type fixture struct {
	*sim.Simulator
	url   string
	clock *clocktesting.FakePassiveClock
}

// start runs a simulator. No test may end with a list of all runners having been made.
func start(t *testing.T, o sim.Options) fixture {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	if o.Clock == nil {
		o.Clock = clock
	}
	if o.Tokens == nil {
		o.Tokens = []sim.Token{{Value: token, Scopes: []string{"*"}}}
	}
	s := sim.New(o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(func() { assert.Zero(t, s.Calls()[sim.RouteListAll].Total, "a list of all runners was made") })
	return fixture{Simulator: s, url: server.URL, clock: clock}
}

func (f fixture) step(d time.Duration) { f.clock.SetTime(f.clock.Now().Add(d)) }

func (f fixture) credentials(t *testing.T, token string) github.Credentials {
	t.Helper()
	return parse(t, map[string]string{github.KeyToken: token, github.KeyEnterpriseURL: f.url})
}

func (f fixture) client(t *testing.T, s github.Scope, opts ...github.Option) *github.Client {
	t.Helper()
	return newClient(t, f.credentials(t, token), s, append([]github.Option{github.WithClock(f.clock)}, opts...)...)
}

func (f fixture) calls(route string) int { return f.Calls()[route].Total }

func (f fixture) fail(t *testing.T, fault sim.Fault) {
	t.Helper()
	require.NoError(t, f.Fault(fault))
}

func newClient(t *testing.T, c github.Credentials, s github.Scope, opts ...github.Option) *github.Client {
	t.Helper()
	client, err := github.New(c, s, opts...)
	require.NoError(t, err)
	return client
}

func parse(t *testing.T, data map[string]string) github.Credentials {
	t.Helper()
	c, err := github.ParseCredentials(secretData(data))
	require.NoError(t, err)
	return c
}

func secretData(data map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range data {
		out[k] = []byte(v)
	}
	return out
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	return key
}

func pkcs1(key *rsa.PrivateKey) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// toward sends what is meant for another host to the simulator, and keeps the paths.
func toward(url string, paths *[]string) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		*paths = append(*paths, r.URL.Host+r.URL.Path)
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(url, "http://")
		return http.DefaultTransport.RoundTrip(r)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
