// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

// curl is what a person does.
func (w *world) curl(t *testing.T, method, path, body string) (string, int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
	require.NoError(t, err)
	if path == "/" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	b, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return string(b), response.StatusCode
}

func (w *world) post(t *testing.T, form string) (string, int) {
	t.Helper()
	return w.curl(t, http.MethodPost, "/", form)
}

func TestFaultIsSetListedAndClearedByHand(t *testing.T) {
	w := newWorld(t)
	_, status := w.curl(t, http.MethodPost, "/_sim/faults", `{"service":"sts","action":"AssumeRoleWithWebIdentity","kind":"throttle","count":3}`)
	require.Equal(t, 204, status)
	_, status = w.curl(t, http.MethodPost, "/_sim/faults", `{"kind":"slow","delay":"1m30s"}`)
	require.Equal(t, 204, status)
	assert.Equal(t, []aws.Fault{
		{Service: aws.STS, Action: webIdentity, Kind: aws.Throttle, Count: 3}, {Kind: aws.Slow, Delay: 90 * time.Second},
	}, w.Faults())
	_, err := w.assume(t, ciRole, w.token(t))
	requireAPIError(t, err, 400, "Throttling", "Rate exceeded")

	list, status := w.curl(t, http.MethodGet, "/_sim/faults", "")
	assert.Equal(t, 200, status)
	assert.JSONEq(t, `[{"service":"sts","action":"AssumeRoleWithWebIdentity","kind":"throttle","count":2},{"kind":"slow","delay":"1m30s"}]`, list)

	_, status = w.curl(t, http.MethodDelete, "/_sim/faults", "")
	assert.Equal(t, 204, status)
	_, err = w.assume(t, ciRole, w.token(t))
	require.NoError(t, err)
}

func TestMistakeInAControlRequestIsNamed(t *testing.T) {
	for name, tt := range map[string]struct{ method, path, body, want string }{
		"a field that does not exist":    {http.MethodPost, "/_sim/faults", `{"kind":"throttle","cuont":3}`, `unknown field "cuont"`},
		"a kind that does not exist":     {http.MethodPost, "/_sim/faults", `{"kind":"explode"}`, `kind "explode"`},
		"a delay that is no duration":    {http.MethodPost, "/_sim/faults", `{"kind":"slow","delay":"long"}`, "long"},
		"a lifetime below zero":          {http.MethodPut, "/_sim/lifetimes", `{"login":"-1m"}`, "login -1m0s"},
		"a lifetime that does not exist": {http.MethodPut, "/_sim/lifetimes", `{"lgoin":"1m"}`, "lgoin"},
	} {
		t.Run(name, func(t *testing.T) {
			body, status := newWorld(t).curl(t, tt.method, tt.path, tt.body)
			assert.Equal(t, 400, status)
			assert.Contains(t, body, tt.want)
			assert.Contains(t, body, tt.path)
		})
	}
}

func TestTwelveHoursAreFakedByAShortLifetime(t *testing.T) {
	w := newWorld(t)
	_, status := w.curl(t, http.MethodPut, "/_sim/lifetimes", `{"login":"30s","session":"10s"}`)
	require.Equal(t, 204, status)
	session := w.session(t, ciRole)
	user, password, expires := w.login(t, session)
	assert.WithinDuration(t, w.clock.Now().Add(30*time.Second), expires, time.Second)

	w.clock.Step(29 * time.Second)
	_, err := w.ecr(session).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
	requireAPIError(t, err, 400, "ExpiredTokenException", "")
	_, _, err = w.Verify(user, password, host)
	require.NoError(t, err)
	w.clock.Step(time.Second)
	_, _, err = w.Verify(user, password, host)
	require.ErrorIs(t, err, aws.ErrExpiredLogin)
}

func TestEverythingIssuedIsExpiredByHand(t *testing.T) {
	w := newWorld(t)
	session := w.session(t, ciRole)
	user, password, _ := w.login(t, session)
	_, status := w.curl(t, http.MethodPost, "/_sim/expire", "")
	require.Equal(t, 204, status)
	_, _, err := w.Verify(user, password, host)
	require.ErrorIs(t, err, aws.ErrExpiredLogin)
	_, err = w.ecr(session).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
	requireAPIError(t, err, 400, "ExpiredTokenException", "")

	_, _, expires := w.login(t, w.session(t, ciRole))
	assert.WithinDuration(t, w.clock.Now().Add(12*time.Hour), expires, time.Second, "what is issued later lives as long as always")
}

func TestCallsAreListedWithoutSecrets(t *testing.T) {
	w := newWorld(t)
	token := w.token(t)
	out, err := w.assume(t, ciRole, token)
	require.NoError(t, err)
	user, password, _ := w.login(t, static(out.Credentials))
	w.ping(t, host, user, password)

	body, status := w.curl(t, http.MethodGet, "/_sim/calls", "")
	assert.Equal(t, 200, status)
	assert.Contains(t, body, `"action": "GetAuthorizationToken"`)
	assert.Contains(t, body, "arn:aws:sts::111122223333:assumed-role/ci/ci-runner-abc")
	for _, text := range []string{body, w.log.String()} {
		for _, secret := range []string{token, *out.Credentials.SecretAccessKey, *out.Credentials.SessionToken, password} {
			assert.NotContains(t, text, secret)
		}
	}
	assert.Contains(t, w.log.String(), "outcome=OK")
}

func TestResetForgetsCountsAndFaultsAndKeepsLogins(t *testing.T) {
	w := newWorld(t)
	user, password, _ := w.login(t, w.session(t, ciRole))
	require.NoError(t, w.Inject(aws.Fault{Kind: aws.Broken}))
	require.NoError(t, w.SetLifetimes(aws.Lifetimes{Login: time.Second}))
	_, status := w.curl(t, http.MethodPost, "/_sim/reset", "")
	require.Equal(t, 204, status)

	assert.Zero(t, w.Calls(aws.STS, webIdentity))
	assert.Empty(t, w.History())
	assert.Empty(t, w.Faults())
	_, _, err := w.Verify(user, password, host)
	require.NoError(t, err)
	_, _, expires := w.login(t, w.session(t, ciRole))
	assert.WithinDuration(t, w.clock.Now().Add(12*time.Hour), expires, time.Second)
}

func TestHelpListsEveryControlPath(t *testing.T) {
	body, status := newWorld(t).curl(t, http.MethodGet, "/_sim/", "")
	assert.Equal(t, 200, status)
	for _, path := range []string{"/_sim/calls", "/_sim/faults", "/_sim/lifetimes", "/_sim/expire", "/_sim/reset"} {
		assert.Contains(t, body, path)
	}
}
