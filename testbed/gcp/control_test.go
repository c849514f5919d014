// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

func (w *world) sendFault(body string) reply {
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/_sim/faults", strings.NewReader(body))
	return w.do(request, err)
}

func TestFaultsComeAsOftenAsTheyWereAskedFor(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.server.Inject(sim.Fault{Service: gcp.STS, Kind: sim.Throttle, Count: 2}))
	fields := exchange(stsAudience, w.subject("https:"+stsAudience))
	var got []int
	for range 3 {
		got = append(got, w.form("/v1/token", fields).status)
	}
	assert.Equal(t, []int{http.StatusTooManyRequests, http.StatusTooManyRequests, http.StatusOK}, got)
	assert.Equal(t, 3, w.server.Calls(gcp.STS, "Token"))
}

func TestEachKindOfFault(t *testing.T) {
	w := newWorld(t)
	fields := exchange(stsAudience, w.subject("https:"+stsAudience))
	for body, want := range map[string]int{
		`{"kind":"500","count":1}`:                                 http.StatusInternalServerError,
		`{"kind":"accessdenied","count":1}`:                        http.StatusForbidden,
		`{"kind":"clockskew","delay":"24h","count":1}`:             http.StatusBadRequest,
		`{"kind":"answer","status":418,"body":"tea","count":1}`:    http.StatusTeapot,
		`{"kind":"throttle","service":"iamcredentials","count":1}`: http.StatusOK,
	} {
		require.Equal(t, http.StatusNoContent, w.sendFault(body).status)
		assert.Equal(t, want, w.form("/v1/token", fields).status, body)
		w.server.ClearFaults()
	}
}

func TestAServerThatHangsUpGivesNoAnswer(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.server.Inject(sim.Fault{Kind: sim.HangUp, Count: 1}))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v2/", nil)
	require.NoError(t, err)
	response, err := http.DefaultTransport.(*http.Transport).Clone().RoundTrip(request)
	if err == nil {
		response.Body.Close()
	}
	require.Error(t, err)
}

func TestASlowServerAnswersOnceItsTimeHasCome(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.server.Inject(sim.Fault{Kind: sim.Slow, Delay: time.Hour}))
	done := make(chan int, 1)
	go func() { done <- w.get("/v2/", "").status }()
	require.Eventually(t, w.clock.HasWaiters, 10*time.Second, time.Millisecond)
	w.clock.Step(time.Hour)
	assert.Equal(t, http.StatusUnauthorized, <-done)
}

func TestAFaultThatMakesNoSenseIsNamed(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`{"kind":"magic"}`:              `kind "magic"`,
		`{"kind":"500","service":"s3"}`: `service "s3"`,
		`{"kind":"slow"}`:               "delay 0s",
		`{"kind":"answer"}`:             "status 0",
		`{"kind":"500","count":-1}`:     "count -1",
		`{"kind":"500","colour":"red"}`: "colour",
		`{`:                             "EOF",
	} {
		got := w.sendFault(body)
		assert.Equal(t, http.StatusBadRequest, got.status, body)
		assert.Contains(t, got.raw, want)
	}
	assert.Empty(t, w.get("/_sim/faults", "").fields)
}

func TestAPersonSeesAndSteersByHTTP(t *testing.T) {
	w := newWorld(t)
	assert.Contains(t, w.get("/_sim/", "").raw, "POST   /_sim/expire")
	token := w.federated()
	assert.Contains(t, w.get("/_sim/calls", "").raw, `"action": "Token"`)
	assert.Equal(t, http.StatusNoContent, w.asJSON("/_sim/expire", "", nil).status)
	_, err := w.server.Verify("oauth2accesstoken", token, gcp.Scope{Host: host})
	require.ErrorIs(t, err, gcp.ErrExpiredToken)
	assert.Equal(t, http.StatusNoContent, w.asJSON("/_sim/reset", "", nil).status)
	assert.Empty(t, w.server.History())
}

func TestNoTokenIsLogged(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *gcp.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	token := w.impersonated("").text("accessToken")
	w.login("oauth2accesstoken", token, "repository:"+app+":pull")
	assert.Contains(t, log.String(), "GenerateAccessToken")
	assert.NotContains(t, log.String(), token)
	assert.NotContains(t, log.String(), "eyJ")
}

func TestAConfigThatCannotBeIsNamed(t *testing.T) {
	for want, c := range map[string]gcp.Config{
		`provider "x": issuer and jwks`: {Providers: []gcp.Provider{{Name: "x"}}},
		`provider "x": neither`:         {Providers: []gcp.Provider{{Name: "x", Issuer: "i", JWKS: "j"}}},
		`neither the name`:              {Providers: []gcp.Provider{{Name: gke, Issuer: "i", JWKS: "j"}}},
		`repository "x"`:                {Repositories: map[string]gcp.Repository{"x": {}}},
		`role "roles/owner"`:            {Repositories: map[string]gcp.Repository{images: {Bindings: map[string][]string{"roles/owner": {"x"}}}}},
	} {
		_, err := gcp.New(c)
		assert.ErrorContains(t, err, want)
	}
}

func FuzzTokenRequest(f *testing.F) {
	f.Add("application/json", `{"grantType":"x","audience":"//iam.googleapis.com/projects"}`)
	f.Add("application/x-www-form-urlencoded", "grant_type=urn&audience=identitynamespace:a:b&subject_token=a.b.c")
	f.Add("", "%zz")
	s, err := gcp.New(gcp.Config{})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, kind, body string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/token", strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", kind)
		answer := recorder{header: http.Header{}}
		s.ServeHTTP(&answer, request)
		assert.GreaterOrEqual(t, answer.status, http.StatusBadRequest, "a cloud without providers gives nobody a token")
		assert.Less(t, answer.status, http.StatusInternalServerError)
	})
}

// recorder keeps the status of an answer.
type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }
