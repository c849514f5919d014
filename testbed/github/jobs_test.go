// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	sim "github.com/runner-identity/runner-identity/testbed/github"
	"github.com/runner-identity/runner-identity/testbed/github/job"
)

// connected is a runner's session as a header.
func (p page) connected(t *testing.T) string {
	t.Helper()
	session, _, status := p.Connect(p.register(t))
	require.Equal(t, 200, status)
	return "Authorization: Bearer " + session
}

func TestAJobFromTheQueueToItsEnd(t *testing.T) {
	p := open(t, sim.Options{})
	bearer := p.connected(t)
	status, none := p.raw(t, "GET", "/_sim/session/job?wait=0", "", bearer)
	require.Equal(t, 204, status)
	assert.Empty(t, none)

	status, _ = p.curl(t, "POST", "/_sim/jobs", `{"labels": ["LINUX"], "steps": [{"name": "hello", "run": "exec echo hello", "env": {"A": "1"}}]}`)
	require.Equal(t, 201, status)
	for range 2 { // an answer that got lost is given again
		_, taken := p.raw(t, "GET", "/_sim/session/job", "", bearer)
		assert.JSONEq(t, `{"id": 1, "labels": ["LINUX"], "steps": [{"name": "hello", "run": "exec echo hello", "env": {"A": "1"}}],
			"status": "in_progress", "runner": "r1", "results": []}`, taken)
	}
	assert.True(t, p.Runners()[0].Busy)

	for _, result := range []string{`{"name": "hello"}`, `{"name": "hello", "conclusion": "success", "output": "hello\n"}`} {
		status, _ = p.raw(t, "PUT", "/_sim/session/job/steps/0", result, bearer)
		require.Equal(t, 204, status)
	}
	status, _ = p.raw(t, "PUT", "/_sim/session/job", `{"conclusion": "success"}`, bearer)
	require.Equal(t, 204, status)
	assert.Empty(t, p.Runners(), "an ephemeral runner is forgotten after its job")
	_, over := p.curl(t, "GET", "/_sim/jobs/1", "")
	assert.Equal(t, "completed", over["status"])
	assert.Equal(t, "success", over["conclusion"])
	assert.Equal(t, []any{map[string]any{"name": "hello", "conclusion": "success", "output": "hello\n"}}, over["results"])
	status, _ = p.raw(t, "GET", "/_sim/session/job", "", bearer)
	assert.Equal(t, 404, status)
}

func TestWhichRunnerMayTakeAJob(t *testing.T) {
	for name, test := range map[string]struct {
		job   job.Job
		state string
		want  int
	}{
		"one with all labels":                {job.Job{Labels: []string{"gpu", "self-hosted"}}, "", 200},
		"any, for a job without labels":      {job.Job{}, "", 200},
		"not one that lacks a label":         {job.Job{Labels: []string{"gpu", "arm64"}}, "", 204},
		"one of the job's scope":             {job.Job{Scope: "orgs/acme"}, "", 200},
		"not one of another scope":           {job.Job{Scope: "orgs/other"}, "", 204},
		"not one that a person made busy":    {job.Job{}, sim.Busy, 204},
		"not one that a person says is done": {job.Job{}, sim.Done, 404},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, sim.Options{})
			bearer := p.connected(t)
			p.AddJob(test.job)
			if test.state != "" {
				require.True(t, p.Set("r1", test.state))
			}
			status, _ := p.raw(t, "GET", "/_sim/session/job?wait=0", "", bearer)
			assert.Equal(t, test.want, status)
		})
	}
}

func TestTheOldestJobIsTakenFirstAndOnce(t *testing.T) {
	p := open(t, sim.Options{})
	bearer := p.connected(t)
	p.AddJob(job.Job{})
	p.AddJob(job.Job{})
	status, _ := p.raw(t, "GET", "/_sim/session/job", "", bearer)
	require.Equal(t, 200, status)
	assert.Equal(t, []job.Status{job.InProgress, job.Queued}, []job.Status{p.Jobs()[0].Status, p.Jobs()[1].Status})
}

func TestARunnerThatWaitsIsToldAtOnce(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(page)
		want    int
	}{
		"of a job":        {func(p page) { p.AddJob(job.Job{}) }, 200},
		"that it is gone": {func(p page) { p.Set("r1", sim.Done) }, 404},
		"of a reset":      {func(p page) { p.Reset() }, 404},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, sim.Options{})
			bearer := p.connected(t)
			got := make(chan int)
			go func() {
				status, _ := p.raw(t, "GET", "/_sim/session/job?wait=50", "", bearer)
				got <- status
			}()
			test.happens(p)
			assert.Equal(t, test.want, <-got)
		})
	}
}

func TestARunnerThatHasGoneIsGivenNoJob(t *testing.T) {
	p := open(t, sim.Options{})
	bearer := p.connected(t)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r, err := http.NewRequestWithContext(ctx, "GET", "/_sim/session/job", http.NoBody)
	require.NoError(t, err)
	r.Header.Set("Authorization", bearer[len("Authorization: "):])
	p.AddJob(job.Job{})
	p.ServeHTTP(discard{}, r)
	assert.Equal(t, job.Queued, p.Jobs()[0].Status)
}

// discard is a connection that nobody reads from.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

func TestHowARunnerLeaves(t *testing.T) {
	for name, test := range map[string]struct {
		busy           bool
		query          string
		status         int
		runner         string
		wantConclusion job.Conclusion
	}{
		"idle, and stays registered":               {false, "?idle=stay", 204, "offline", ""},
		"idle, and is forgotten":                   {false, "?idle=remove", 204, "gone", ""},
		"not while it has a job":                   {true, "?idle=remove", 409, "online", ""},
		"without a word, and its job is cancelled": {true, "", 204, "gone", job.Cancelled},
		"in a way that is not":                     {false, "?idle=maybe", 400, "online", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, sim.Options{})
			bearer := p.connected(t)
			if test.busy {
				p.AddJob(job.Job{})
				_, _ = p.raw(t, "GET", "/_sim/session/job", "", bearer)
			}
			status, _ := p.raw(t, "DELETE", "/_sim/session"+test.query, "", bearer)
			assert.Equal(t, test.status, status)
			got := "gone"
			for _, r := range p.Runners() {
				got = r.Status
			}
			assert.Equal(t, test.runner, got)
			for _, j := range p.Jobs() {
				assert.Equal(t, test.wantConclusion, j.Conclusion)
			}
		})
	}
}

func TestWhatTheJobPagesRefuse(t *testing.T) {
	p := open(t, sim.Options{})
	bearer := p.connected(t)
	for name, test := range map[string]struct {
		method, path, body string
		status             int
	}{
		"a job that is not":             {"GET", "/_sim/jobs/1", "", 404},
		"an id that is no number":       {"GET", "/_sim/jobs/one", "", 404},
		"a job with an unknown field":   {"POST", "/_sim/jobs", `{"label": "gpu"}`, 400},
		"a result of an idle runner":    {"PUT", "/_sim/session/job/steps/0", `{}`, 404},
		"the end of no job":             {"PUT", "/_sim/session/job", `{"conclusion": "success"}`, 404},
		"an end that is no conclusion":  {"PUT", "/_sim/session/job", `{"conclusion": "fine"}`, 400},
		"a result at a place of a word": {"PUT", "/_sim/session/job/steps/first", `{}`, 404},
	} {
		status, _ := p.raw(t, test.method, test.path, test.body, bearer)
		assert.Equal(t, test.status, status, name)
	}
	p.AddJob(job.Job{})
	_, _ = p.raw(t, "GET", "/_sim/session/job", "", bearer)
	status, _ := p.raw(t, "PUT", "/_sim/session/job/steps/1", `{}`, bearer)
	assert.Equal(t, 404, status, "the result of a step whose predecessor has none")
}

func TestAJITConfigurationSaysWhereTheSimulatorIs(t *testing.T) {
	for name, test := range map[string]struct{ option, want string }{
		"where it was asked for": {"", ""},
		"where the options say":  {"https://github.test:8443/", "https://github.test:8443/"},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, sim.Options{URL: test.option})
			if test.want == "" {
				test.want = p.url + "/"
			}
			var files map[string][]byte
			raw, err := base64.StdEncoding.DecodeString(p.register(t))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &files))
			var settings struct{ ServerURL string }
			require.NoError(t, json.Unmarshal(files[".runner"], &settings))
			assert.Equal(t, test.want, settings.ServerURL)
		})
	}
}
