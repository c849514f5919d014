// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/agent"
	"github.com/runner-identity/runner-identity/identity"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
)

// ARC #474, amazon-ecr-login #652: a private job image is pulled before any step can log in.
func TestTheDockerClientIsLoggedInByTheTimeThatTheRunnerStarts(t *testing.T) {
	w := newWorld(t)
	require.Error(t, agent.Ready(w.dir))
	w.startReady(w.agent())
	require.NoError(t, w.taken())
	assert.NotContains(t, w.read(), "credsStore", "it would break logins elsewhere")
}

func TestLoginsAreRenewedBeforeTheyEnd(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	w.startReady(a)
	for range 3 {
		before := w.client(host)
		w.rotateAfter(6 * time.Hour)
		w.until(func() bool { return w.client(host) != before }, "the login was not renewed")
		w.idle(a)
		require.NoError(t, w.taken())
	}
}

// rotateAfter lets time pass. The kubelet has renewed the tokens by then.
func (w *world) rotateAfter(d time.Duration) {
	w.t.Helper()
	w.signedAt(w.clock.Now().Add(d))
	w.clock.Step(d)
}

func TestALoginOfAMinuteIsRenewedToo(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.cloud.SetLifetimes(simaws.Lifetimes{Login: time.Minute}))
	a := w.agent()
	w.startReady(a)
	for range 5 {
		before := w.client(host)
		w.clock.Step(30 * time.Second)
		w.until(func() bool { return w.client(host) != before }, "the login was not renewed")
		w.idle(a)
		require.NoError(t, w.taken())
	}
}

func TestARunnerDoesNotWaitLongerThanTheBoundForASlowCloud(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.cloud.Inject(simaws.Fault{Kind: simaws.Broken}))
	a := w.agent()
	w.start(a)
	// The look at files, the bound, and the second attempt.
	w.until(func() bool { return w.clock.Waiters() == 3 }, "the first attempt has not failed")
	require.Error(t, agent.Ready(w.dir), "the cloud may answer yet")
	w.clock.Step(agent.StartBound - time.Millisecond)
	w.until(func() bool { return w.clock.Waiters() == 3 && strings.Count(w.log.String(), "no registry login") > 1 }, "there was no second attempt")
	require.Error(t, agent.Ready(w.dir))
	w.clock.Step(time.Millisecond)
	w.until(func() bool { return agent.Ready(w.dir) == nil }, "the runner waits on")

	w.cloud.ClearFaults()
	w.until(func() bool {
		w.clock.Step(5 * time.Second)
		return w.taken() == nil
	}, "there is no login after the cloud has come back")
}

func TestARunnerDoesNotWaitForACloudThatRefuses(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.cloud.Inject(simaws.Fault{Kind: simaws.AccessDenied}))
	w.startReady(w.agent())
	assert.Contains(t, w.log.String(), `"reason":"IdentityDenied"`)
	w.cloud.ClearFaults()
	w.until(func() bool {
		w.clock.Step(time.Minute)
		return w.taken() == nil
	}, "the permission that was added does not help this runner")
}

func TestATokenThatHasEndedCostsTheLoginAndNotTheJob(t *testing.T) {
	w := newWorld(t)
	w.clock.Step(2 * time.Hour) // the kubelet has not renewed it
	w.start(w.agent())
	w.until(func() bool { return w.clock.Waiters() == 3 }, "the token was not refused")
	assert.NoFileExists(t, w.configFile())
	w.clock.Step(agent.StartBound)
	w.until(func() bool { return agent.Ready(w.dir) == nil }, "the runner waits on")
	w.rotate()
	w.until(func() bool {
		w.clock.Step(time.Minute)
		return w.taken() == nil
	}, "the renewed token is not used")
}

// ECR Public refuses a login that has ended, and takes none: a dead login breaks what works without one.
func TestALoginThatCannotBeRenewedIsTakenOutWhenItEnds(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	require.NoError(t, w.cloud.Inject(simaws.Fault{Kind: simaws.Broken}))
	w.until(func() bool {
		w.clock.Step(20 * time.Minute)
		return w.client(host).Username == ""
	}, "the login has ended and is still sent")
	w.cloud.ClearFaults()
	w.rotate()
	w.until(func() bool {
		w.clock.Step(5 * time.Minute)
		return w.taken() == nil
	}, "the cloud has come back and there is no login")
}

func TestStoppingTakesOurLoginsBackAndLeavesTheJobs(t *testing.T) {
	w := newWorld(t)
	stop := w.startReady(w.agent())
	w.edit(func(_, auths map[string]any) { auths[elsewhere] = map[string]any{"auth": "bWU6bWluZQ=="} })
	require.NoError(t, stop())
	assert.Empty(t, w.client(host).Username)
	assert.Equal(t, "me", w.client(elsewhere).Username)
}

func TestStoppingDoesNotWaitForACloudThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.cloud.Inject(simaws.Fault{Kind: simaws.Slow, Delay: time.Hour}))
	stop := w.start(w.agent())
	// The look at files, the bound, and the cloud, which takes its time by the same clock.
	w.until(func() bool { return w.clock.Waiters() == 3 }, "nobody was asked")
	require.NoError(t, stop())
	assert.NotContains(t, w.log.String(), "logged in")
}

// An agent that was killed does not know what it wrote; the docker client must not be left with a login that nobody renews.
func TestAfterARestartOurLoginsAreStillKnownAsOurs(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	before := w.client(host)
	again := newWorld(t)
	again.dir, again.clock, again.cloud, again.plan, again.provider, again.tokens = w.dir, w.clock, w.cloud, w.plan, w.provider, w.tokens
	stop := again.start(again.agent())
	again.until(func() bool { return again.client(host) != before }, "the second agent leaves the first one's login")
	require.NoError(t, stop())
	assert.Empty(t, again.client(host).Username)
}

func TestAPluginThatThisBuildDoesNotHaveKeepsNoRunnerFromStarting(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	a.Config.Provider = "other"
	w.start(a)
	w.until(func() bool { return agent.Ready(w.dir) == nil }, "the runner waits")
	assert.Contains(t, w.log.String(), "is not in this build")
}

func TestNothingToDoIsReadyAtOnce(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	a.Config, a.WorkDir, a.Providers = agent.Config{}, "", identity.Set{}
	stop := w.start(a)
	w.until(func() bool { return agent.Ready(w.dir) == nil }, "the runner waits")
	require.NoError(t, stop())
}

func TestNoTokenAndNoPasswordIsInTheLog(t *testing.T) {
	w := newWorld(t)
	stop := w.startReady(w.agent())
	password := w.client(host).Password
	for _, fault := range []simaws.Fault{{Kind: simaws.Broken}, {Kind: simaws.AccessDenied}, {Kind: simaws.ErrorCode, Code: "InvalidIdentityToken"}} {
		w.cloud.ClearFaults()
		require.NoError(t, w.cloud.Inject(fault))
		failures := strings.Count(w.log.String(), "no registry login")
		w.until(func() bool {
			w.clock.Step(time.Hour)
			return strings.Count(w.log.String(), "no registry login") > failures
		}, "nothing has failed")
	}
	require.NoError(t, stop())
	token, err := os.ReadFile(filepath.Join(w.tokens, w.plan.Tokens[0].Path))
	require.NoError(t, err)
	for _, secret := range []string{password, base64.StdEncoding.EncodeToString([]byte("AWS:" + password)), string(token), string(token[len(token)-40:])} {
		assert.NotContains(t, w.log.String(), secret)
		assert.NotContains(t, w.plan.Config, secret)
	}
}
