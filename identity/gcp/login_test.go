// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

const host = "europe-west1-docker.pkg.dev"

// slack is what may lie between two looks at the clock in one test.
const slack = time.Minute

func TestALoginIsOneThatTheRegistryTakes(t *testing.T) {
	c := newCloud(t)
	for name, r := range map[string]identity.Request{
		"as a Google service account":           federation(t, c.here()),
		"as the ServiceAccount's own principal": federation(t, c.here(), set{"serviceAccount": nil, "projectID": "acme-ci"}),
		"of a GKE cluster":                      gke(t, c),
		"of a GKE cluster without an account":   gke(t, c, set{"serviceAccount": nil}),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := gcp.New().Login(t.Context(), host, c.token(r), r)
			require.NoError(t, err)
			assert.Equal(t, "oauth2accesstoken", got.Username)
			assert.WithinDuration(t, time.Now().Add(time.Hour), got.Expires, slack)
			_, err = c.server.Verify(got.Username, got.Password.Reveal(), gcpsim.Scope{Host: host, Path: "acme-ci/images/app"})
			assert.NoError(t, err)
		})
	}
}

// gke is a request of a GKE cluster whose tokens this cloud's issuer signs.
func gke(t testing.TB, c *cloud, changes ...set) identity.Request {
	r := onGKE(t, append([]set{c.here(), {"workloadIdentityProvider": testCluster, "projectNumber": "123456789012"}}, changes...)...)
	r.Issuer = ""
	return r
}

// ESO #6690, auth #432 and #474, dependabot/proxy #262: a federated token lives as long as what it was traded for.
func TestAnHourlyRefreshWouldLeaveALoginDeadSoItsEndIsGooglesAnswer(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here(), set{"serviceAccount": nil, "projectID": "acme-ci"})
	for _, left := range []time.Duration{4*time.Minute + 58*time.Second, 15 * time.Minute, time.Hour, 24 * time.Hour} {
		got, err := gcp.New().Login(t.Context(), host, c.tokenFor(r, left), r)
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now().Add(min(left, time.Hour)), got.Expires, slack)
	}
}

func TestTheTokenToTradeOutlivesTheHourThatAnAccessTokenHas(t *testing.T) {
	plan, err := gcp.New().Plan(federation(t))
	require.NoError(t, err)
	assert.Greater(t, plan.Exchange.Lifetime, time.Hour)
}

func TestAnAccountsLoginLivesAsLongAsItsPolicyLetsIt(t *testing.T) {
	c := newCloud(t, func(c *gcpsim.Config) {
		a := c.ServiceAccounts[testAccount]
		a.ExtendedLifetime = true
		c.ServiceAccounts[testAccount] = a
	})
	r := federation(t, c.here(), set{"accessTokenLifetime": "12h"})
	got, err := gcp.New().Login(t.Context(), host, c.token(r), r)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(12*time.Hour), got.Expires, slack)
}

func TestLoginsToManyHostsAtOnceAreOneExchange(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here())
	p := gcp.New()
	var wait sync.WaitGroup
	for _, h := range []string{host, "gcr.io", "eu.gcr.io", "docker.us-east1.rep.pkg.dev", "us-docker.pkg.dev"} {
		token := c.token(r)
		wait.Go(func() {
			_, err := p.Login(t.Context(), h, token, r)
			assert.NoError(t, err)
		})
	}
	wait.Wait()
	assert.Equal(t, 1, c.server.Calls(gcpsim.STS, "Token"))
	assert.Equal(t, 1, c.server.Calls(gcpsim.IAMCredentials, "GenerateAccessToken"))
}

// buildkit #5852, gitpod #11454: what is renewed has to be new.
func TestARenewedLoginIsANewToken(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here())
	now := clocktesting.NewFakePassiveClock(time.Now())
	p := gcp.New(gcp.WithClock(now))
	first, err := p.Login(t.Context(), host, c.token(r), r)
	require.NoError(t, err)
	now.SetTime(now.Now().Add(time.Minute))
	second, err := p.Login(t.Context(), host, c.token(r), r)
	require.NoError(t, err)
	assert.NotEqual(t, first.Password.Reveal(), second.Password.Reveal())
}

func TestIdentitiesNeverShareALogin(t *testing.T) {
	c := newCloud(t)
	p := gcp.New()
	r := federation(t, c.here())
	_, err := p.Login(t.Context(), host, c.token(r), r)
	require.NoError(t, err)
	other := federation(t, c.here())
	other.Namespace = "other"
	_, err = p.Login(t.Context(), host, c.token(other), other)
	assert.Equal(t, identity.Denied, identity.ReasonOf(err), "another namespace has no binding: %v", err)
}

func TestAHostOfAnotherCloudIsNotLoggedInTo(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here())
	_, err := gcp.New().Login(t.Context(), "ghcr.io", c.token(r), r)
	assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
	assert.ErrorContains(t, err, "ghcr.io")
	assert.Zero(t, c.server.Calls(gcpsim.STS, "Token"), "nobody was asked")
}

// The process has credentials of its own in every place where Google's libraries look for them. None may be used.
func TestCredentialsOfTheProcessAreNeverUsed(t *testing.T) {
	c := newCloud(t)
	trap := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the process's own credentials were asked for: %s", r.URL)
	}))
	t.Cleanup(trap.Close)
	for name, value := range map[string]string{
		"GOOGLE_APPLICATION_CREDENTIALS": "/nonexistent/key.json", "HOME": t.TempDir(), "GOOGLE_CLOUD_PROJECT": "wrong",
		"GCE_METADATA_HOST": strings.TrimPrefix(trap.URL, "http://"), "GOOGLE_CLOUD_QUOTA_PROJECT": "wrong",
		"GOOGLE_CLOUD_UNIVERSE_DOMAIN": "wrong.example", "GOOGLE_API_CERTIFICATE_CONFIG": "/nonexistent/certificate.json",
		"EXPERIMENTAL_GOOGLE_API_USE_S2A": "true",
	} {
		t.Setenv(name, value)
	}
	r := federation(t, c.here(), set{"repositories": []string{testRepo}})
	links, err := gcp.New().Probe(t.Context(), c.token(r), r)
	require.NoError(t, err)
	assert.Len(t, links, 4)
}

func TestATokenIsNotSentToWhereARedirectPoints(t *testing.T) {
	caught := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the token went there") }))
	t.Cleanup(caught.Close)
	for _, step := range []string{"/v1/token", ":generateAccessToken"} {
		c := newCloud(t)
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, step) {
				http.Redirect(w, r, caught.URL, http.StatusTemporaryRedirect)
				return
			}
			c.server.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		r := federation(t, set{"endpoints": set{"sts": front.URL, "iamCredentials": front.URL}})
		_, err := gcp.New().Login(t.Context(), host, c.token(r), r)
		assert.ErrorContains(t, err, "307")
	}
}

func TestASlowCloudDoesNotHoldTheCallerUp(t *testing.T) {
	c := newCloud(t)
	require.NoError(t, c.server.Inject(sim.Fault{Service: gcpsim.STS, Kind: sim.Slow, Delay: time.Hour}))
	r := federation(t, c.here())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := gcp.New().Login(ctx, host, c.token(r), r)
		done <- err
	}()
	cancel()
	err := <-done
	assert.Equal(t, identity.Unreachable, identity.ReasonOf(err))
	assert.ErrorIs(t, err, context.Canceled)
}

// x/oauth2 refuses such an answer; ESO stores a login that ended in the year 1.
func TestALoginWithoutAnEndIsNoLogin(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here(), set{"serviceAccount": nil, "projectID": "acme-ci"})
	for _, body := range []string{`{"access_token":"x","token_type":"Bearer"}`, `{"access_token":"x","expires_in":0}`, `{"expires_in":3600}`, `{}`, `not JSON`, ``} {
		c.server.ClearFaults()
		require.NoError(t, c.server.Inject(sim.Fault{Service: gcpsim.STS, Kind: sim.Answer, Status: http.StatusOK, Body: body}))
		_, err := gcp.New().Login(t.Context(), host, c.token(r), r)
		require.Error(t, err, body)
		assert.Equal(t, identity.Unreachable, identity.ReasonOf(err))
	}
}

func TestALoginThatEndedAlreadySaysThatAClockIsWrong(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here())
	_, err := gcp.New(gcp.WithClock(clocktesting.NewFakePassiveClock(time.Now().Add(2*time.Hour)))).Login(t.Context(), host, c.token(r), r)
	assert.ErrorContains(t, err, "clock")
	assert.Equal(t, identity.Unreachable, identity.ReasonOf(err))
}
