// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/github"
	sim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestTroubleThatPassesIsOfNoType(t *testing.T) {
	for name, test := range map[string]struct {
		fault sim.Fault
		want  string
	}{
		"a page instead of JSON":      {sim.Fault{Kind: sim.Failure}, "GitHub answered 502: Bad Gateway"},
		"maintenance":                 {sim.Fault{Kind: sim.Failure, Status: 503}, "GitHub answered 503: Service Unavailable"},
		"a connection that closes":    {sim.Fault{Kind: sim.Down}, "EOF"},
		"an answer that never comes":  {sim.Fault{Kind: sim.Slow}, "GitHub did not answer within 100ms"},
		"an answer that got lost":     {sim.Fault{Kind: sim.Lost}, "EOF"},
		"a good page that is no JSON": {sim.Fault{Kind: sim.Failure, Status: 200}, "invalid character '<'"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, sim.Options{})
			c := s.client(t, organization, github.WithTimeout(100*time.Millisecond))
			s.fail(t, test.fault)
			_, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
			require.ErrorContains(t, err, test.want)
			_, denied := errors.AsType[*github.Denied](err)
			assert.False(t, denied)
			assert.NotContains(t, err.Error(), token)
			assert.NotContains(t, err.Error(), "generate-jitconfig", "an error names the operation, not a URL")

			s.ClearFaults()
			_, _, err = c.Find(t.Context(), "web-1")
			require.NoError(t, err, "the client goes on")
		})
	}
}

func TestAnAnswerWithoutAConfigurationIsAnError(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"runner": {"id": 7}}`)) })
	_, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.EqualError(t, err, `register runner "web-1" with organization acme: GitHub's answer has no JIT configuration`)
}

func TestTheCallersEndIsTheCallsEnd(t *testing.T) {
	s := start(t, sim.Options{})
	c := s.client(t, organization)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := c.Find(ctx, "web-1")
	require.ErrorIs(t, err, context.Canceled)
}

func TestAnOldServerThatIgnoresTheNameIsNoticed(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"total_count": 300, "runners": [{"id": 1, "name": "other"}]}`))
	})
	_, _, err := c.Find(t.Context(), "web-1")
	require.EqualError(t, err, `find runner "web-1" in organization acme: the server ignores the filter by name: GitHub Enterprise Server must be upgraded`)
}

func TestARenamedRepositoryIsFollowed(t *testing.T) {
	s := start(t, sim.Options{})
	s.Rename("repos/acme/website", "repos/acme/site")
	c := s.client(t, repository)
	runner, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.NoError(t, err)
	assert.Equal(t, "repos/acme/site", s.Runners()[0].Scope)
	_, ok, err := c.Status(t.Context(), runner.ID)
	require.NoError(t, err)
	assert.True(t, ok)
	require.NoError(t, c.Remove(t.Context(), runner.ID))
	assert.Empty(t, s.Runners())
}

func TestARedirectToAnotherServerGetsNoToken(t *testing.T) {
	var reached bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(other.Close)
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.ErrorContains(t, err, "redirected too often, to another server or to another method")
	assert.False(t, reached)
}

func TestCallsSayWhoMakesThem(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Apps: []sim.App{app.registered("*")}})
	var agents []string
	spy := roundTripper(func(r *http.Request) (*http.Response, error) {
		agents = append(agents, r.Header.Get("User-Agent"))
		return http.DefaultTransport.RoundTrip(r)
	})
	_, err := app.client(t, s, organization, github.WithTransport(spy)).Register(t.Context(), github.Registration{Name: "web-1"})
	require.NoError(t, err)
	assert.Equal(t, []string{"runner-identity", "runner-identity"}, agents, "the App's token and the call")
}
