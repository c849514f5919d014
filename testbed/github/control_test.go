// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	sim "github.com/runner-identity/runner-identity/testbed/github"
)

const jit = `{"name": "r1", "runner_group_id": 1, "labels": ["self-hosted", "Linux", "gpu"]}`

// page is a simulator and a person with curl.
type page struct {
	*sim.Simulator
	url string
}

func open(t *testing.T, o sim.Options) page {
	t.Helper()
	o.Tokens = []sim.Token{{Value: "ghp_ok", Scopes: []string{"*"}}}
	s := sim.New(o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return page{Simulator: s, url: server.URL}
}

func (p page) curl(t *testing.T, method, path, body string, header ...string) (int, map[string]any) {
	t.Helper()
	status, raw := p.raw(t, method, path, body, header...)
	var decoded map[string]any
	if raw != "" {
		require.NoError(t, json.Unmarshal([]byte(raw), &decoded), raw)
	}
	return status, decoded
}

func (p page) raw(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "token ghp_ok")
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(b)
}

func (p page) register(t *testing.T) string {
	t.Helper()
	status, body := p.curl(t, "POST", "/orgs/acme/actions/runners/generate-jitconfig", jit)
	require.Equal(t, 201, status)
	return body["encoded_jit_config"].(string)
}

func TestAPersonPlaysARunnersLifeByCurl(t *testing.T) {
	p := open(t, sim.Options{})
	config := p.register(t)
	status, session := p.curl(t, "POST", "/_sim/session", config+"\n")
	require.Equal(t, 200, status)
	status, again := p.curl(t, "POST", "/_sim/session", config)
	assert.Equal(t, 409, status)
	assert.Equal(t, "the JIT configuration was used before", again["message"])

	status, _ = p.curl(t, "POST", "/_sim/runners/r1/busy", "")
	require.Equal(t, 204, status)
	_, listed := p.raw(t, "GET", "/_sim/runners", "")
	assert.JSONEq(t, `[{"id": 1, "name": "r1", "os": "linux", "status": "online", "busy": true, "ephemeral": true, "runner_group_id": 1,
		"labels": [{"id": 1, "name": "self-hosted", "type": "read-only"}, {"id": 2, "name": "Linux", "type": "read-only"}, {"id": 3, "name": "gpu", "type": "custom"}],
		"scope": "orgs/acme", "connected": true}]`, listed)
	status, refused := p.curl(t, "DELETE", "/orgs/acme/actions/runners/1", "")
	assert.Equal(t, 422, status)
	assert.Equal(t, `Bad request - Runner "r1" is still running a job`, refused["message"])

	bearer := "Authorization: Bearer " + session["session"].(string)
	status, _ = p.curl(t, "DELETE", "/_sim/session", "", bearer)
	assert.Equal(t, 204, status)
	assert.Empty(t, p.Runners(), "the job is over, and an ephemeral runner with it")
	status, _ = p.curl(t, "DELETE", "/_sim/session", "", bearer)
	assert.Equal(t, 404, status)
}

func TestStates(t *testing.T) {
	for state, want := range map[string]string{
		sim.Online: "online false", sim.Busy: "online true", sim.Offline: "offline false", sim.Done: "gone", "asleep": "refused",
	} {
		p := open(t, sim.Options{})
		p.register(t)
		got := "refused"
		if status, _ := p.curl(t, "POST", "/_sim/runners/R1/"+state, ""); status == http.StatusNoContent {
			got = "gone"
			for _, r := range p.Runners() {
				got = r.Status + map[bool]string{true: " true", false: " false"}[r.Busy]
			}
		}
		assert.Equal(t, want, got, state)
	}
}

func TestARunnerThatLeavesIdleStaysRegistered(t *testing.T) {
	p := open(t, sim.Options{})
	session, _, status := p.Connect(p.register(t))
	require.Equal(t, 200, status)
	require.True(t, p.Disconnect(session))
	require.Len(t, p.Runners(), 1)
	assert.Equal(t, "offline", p.Runners()[0].Status)
}

func TestSessionWithoutARunner(t *testing.T) {
	p := open(t, sim.Options{})
	config := p.register(t)
	require.True(t, p.Set("r1", sim.Done))
	for _, body := range []string{"", "nonsense", config} {
		status, _ := p.curl(t, "POST", "/_sim/session", body)
		assert.Equal(t, 404, status)
	}
}

func TestFaultsByCurl(t *testing.T) {
	p := open(t, sim.Options{})
	for body, want := range map[string]string{
		`{"kind": "explode"}`:                  `kind "explode" is none of [rate-limit secondary-limit failure slow down lost]`,
		`{"kind": "slow", "route": "registr"}`: `route "registr" is none of register, find, list-all, status, remove, groups, installation-token, other`,
		`{"kind": "slow", "second": 1}`:        `json: unknown field "second"`,
	} {
		status, refused := p.curl(t, "POST", "/_sim/faults", body)
		assert.Equal(t, 400, status)
		assert.Equal(t, want, refused["message"])
	}
	status, _ := p.curl(t, "POST", "/_sim/faults", `{"kind": "failure", "route": "find", "status": 503, "times": 2}`)
	require.Equal(t, 201, status)
	_, listed := p.raw(t, "GET", "/_sim/faults", "")
	assert.JSONEq(t, `[{"kind": "failure", "route": "find", "status": 503, "times": 2}]`, listed)
	var got []int
	for range 3 {
		status, _ := p.raw(t, "GET", "/orgs/acme/actions/runners?name=r1", "")
		got = append(got, status)
	}
	assert.Equal(t, []int{503, 503, 200}, got)

	require.NoError(t, p.Fault(sim.Fault{Kind: sim.Failure}))
	status, _ = p.raw(t, "DELETE", "/_sim/faults", "")
	assert.Equal(t, 204, status)
	assert.Empty(t, p.Faults())
}

func TestAListWithoutANameIsCountedApart(t *testing.T) {
	p := open(t, sim.Options{})
	for _, path := range []string{"/orgs/acme/actions/runners?name=r1", "/orgs/acme/actions/runners", "/api/v3/orgs/acme/actions/runners?name="} {
		status, _ := p.curl(t, "GET", path, "")
		require.Equal(t, 200, status)
	}
	_, counts := p.raw(t, "GET", "/_sim/calls", "")
	assert.JSONEq(t, `{"find": {"total": 1, "refused": 0, "notModified": 0}, "list-all": {"total": 2, "refused": 0, "notModified": 0}}`, counts)
}

func TestResetKeepsCredentialsAndNothingElse(t *testing.T) {
	p := open(t, sim.Options{Budget: 1})
	p.register(t)
	for range 2 {
		_, _ = p.raw(t, "GET", "/orgs/acme/actions/runners?name=r1", "")
	}
	status, _ := p.raw(t, "POST", "/_sim/reset", "")
	require.Equal(t, 204, status)
	assert.Empty(t, p.Runners())
	assert.Empty(t, p.Calls())
	status, _ = p.raw(t, "GET", "/orgs/acme/actions/runners?name=r1", "")
	assert.Equal(t, 200, status, "the used budget is forgotten")
}

func TestHelpNamesEveryFaultAndRoute(t *testing.T) {
	p := open(t, sim.Options{})
	_, help := p.raw(t, "GET", "/_sim/", "")
	for _, word := range []string{
		string(sim.RateLimit), string(sim.SecondaryLimit), string(sim.Failure), string(sim.Slow), string(sim.Down), string(sim.Lost),
		sim.RouteRegister, sim.RouteFind, sim.RouteListAll, sim.RouteStatus, sim.RouteRemove, sim.RouteGroups, sim.RouteToken, sim.RouteOther,
	} {
		assert.Contains(t, help, word)
	}
}

func TestTheLogHasALineForEachCallAndNoToken(t *testing.T) {
	var log bytes.Buffer
	p := open(t, sim.Options{Log: &log})
	require.NoError(t, p.Fault(sim.Fault{Kind: sim.Failure, Route: sim.RouteStatus, Times: 1}))
	p.register(t)
	_, _ = p.raw(t, "GET", "/orgs/acme/actions/runners/1", "")
	assert.Equal(t, "register POST /orgs/acme/actions/runners/generate-jitconfig → 201\nstatus GET /orgs/acme/actions/runners/1 → 502 (failure)\n", log.String())
}
