// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"crypto/rsa"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/github"
	sim "github.com/runner-identity/runner-identity/testbed/github"
)

// testApp is an App as its owner knows it.
type testApp struct {
	id, installation int64
	key              *rsa.PrivateKey
}

func newApp(t *testing.T) testApp {
	t.Helper()
	return testApp{id: 12, installation: 34, key: newKey(t)}
}

// registered is the App as GitHub knows it.
func (a testApp) registered(scopes ...string) sim.App {
	return sim.App{ID: 12, Installation: 34, Key: &a.key.PublicKey, Scopes: scopes}
}

// client has the fixture's clock for limits and for trust in tokens. JWTs have the machine's, and so the simulator must.
func (a testApp) client(t *testing.T, s fixture, scope github.Scope, opts ...github.Option) *github.Client {
	t.Helper()
	c := parse(t, map[string]string{
		github.KeyAppID: fmt.Sprint(a.id), github.KeyInstallationID: fmt.Sprint(a.installation),
		github.KeyPrivateKey: pkcs1(a.key), github.KeyEnterpriseURL: s.url,
	})
	return newClient(t, c, scope, append([]github.Option{github.WithClock(s.clock)}, opts...)...)
}

func TestOneInstallationTokenServesManyCalls(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Clock: clock.RealClock{}, Apps: []sim.App{app.registered("orgs/acme")}})
	c := app.client(t, s, organization)
	for i := range 5 {
		_, err := c.Register(t.Context(), github.Registration{Name: fmt.Sprint("r", i)})
		require.NoError(t, err)
	}
	assert.Equal(t, 1, s.calls(sim.RouteToken))
}

func TestAnInstallationTokenIsRenewedBeforeItsEnd(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Clock: clock.RealClock{}, Apps: []sim.App{app.registered("orgs/acme")}, TokenLifetime: 50 * time.Second})
	c := app.client(t, s, organization)
	for i := range 3 {
		_, err := c.Register(t.Context(), github.Registration{Name: fmt.Sprint("r", i)})
		require.NoError(t, err)
	}
	assert.Equal(t, 3, s.calls(sim.RouteToken), "a token with less than a minute to live is not used")
}

func TestARevokedInstallationTokenIsReplaced(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Clock: clock.RealClock{}, Apps: []sim.App{app.registered("orgs/acme")}})
	c := app.client(t, s, organization)
	_, err := c.Register(t.Context(), github.Registration{Name: "r0"})
	require.NoError(t, err)

	s.RevokeTokens()
	s.step(2 * time.Minute)
	_, err = c.Register(t.Context(), github.Registration{Name: "r1"})
	assertDenied(t, err, 401)
	_, err = c.Register(t.Context(), github.Registration{Name: "r1"})
	require.NoError(t, err)
}

func TestAPermissionGrantedToTheAppShowsBeforeTheTokenExpires(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Clock: clock.RealClock{}, Apps: []sim.App{app.registered()}})
	c := app.client(t, s, organization)
	_, err := c.Register(t.Context(), github.Registration{Name: "r0"})
	assertDenied(t, err, 403)

	s.Grant(app.id, "orgs/acme")
	s.step(2 * time.Minute)
	_, err = c.Register(t.Context(), github.Registration{Name: "r0"})
	assertDenied(t, err, 403) // with the token that was made before; it is dropped for this answer
	_, err = c.Register(t.Context(), github.Registration{Name: "r0"})
	require.NoError(t, err)
}

func TestRefusedCallsDoNotAskForATokenEach(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Clock: clock.RealClock{}, Apps: []sim.App{app.registered()}})
	c := app.client(t, s, organization)
	for range 20 {
		_, err := c.Register(t.Context(), github.Registration{Name: "r0"})
		assertDenied(t, err, 403)
	}
	assert.Equal(t, 1, s.calls(sim.RouteToken))
}

func TestAnAppThatGitHubDoesNotKnow(t *testing.T) {
	for name, test := range map[string]struct {
		change    func(*testApp)
		suspended bool
		status    int
		want      string
	}{
		"the key of another App": {
			change: func(a *testApp) { a.key = newKey(t) }, status: 401,
			want: "GitHub answered 401 (A JSON web token could not be decoded): " +
				"github_app_private_key is not a key of the App 12 (github_app_id), or this machine's clock is wrong",
		},
		"a wrong App id": {
			change: func(a *testApp) { a.id = 13 }, status: 404,
			want: "GitHub answered 404 (Integration not found): " +
				"there is no App 13 (github_app_id) with an installation 34: github_app_installation_id is the number at the end of the installation's URL",
		},
		"a wrong installation": {
			change: func(a *testApp) { a.installation = 35 }, status: 404,
			want: "GitHub answered 404 (Not Found): " +
				"there is no App 12 (github_app_id) with an installation 35: github_app_installation_id is the number at the end of the installation's URL",
		},
		"a suspended installation": {
			change: func(*testApp) {}, suspended: true, status: 403,
			want: "GitHub answered 403 (This installation has been suspended): " +
				"the installation 34 (github_app_installation_id) is suspended or may not be used: unsuspend it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := newApp(t)
			known := app.registered("*")
			known.Suspended = test.suspended
			s := start(t, sim.Options{Clock: clock.RealClock{}, Apps: []sim.App{known}})
			test.change(&app)
			_, err := app.client(t, s, organization).Register(t.Context(), github.Registration{Name: "r0"})
			require.EqualError(t, err, `register runner "r0" with organization acme: `+test.want)
			assertDenied(t, err, test.status)
		})
	}
}

func TestAnAppsTokenMeetsTheSameTroubles(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Clock: clock.RealClock{}, Apps: []sim.App{app.registered("*")}})
	c := app.client(t, s, organization)
	s.fail(t, sim.Fault{Kind: sim.Failure, Route: sim.RouteToken, Status: 503, Times: 1})
	_, err := c.Register(t.Context(), github.Registration{Name: "r0"})
	require.EqualError(t, err, `register runner "r0" with organization acme: GitHub answered 503 to the request for an installation token: Service Unavailable`)

	s.fail(t, sim.Fault{Kind: sim.SecondaryLimit, Route: sim.RouteToken, Wait: 90 * time.Second, Times: 1})
	_, err = c.Register(t.Context(), github.Registration{Name: "r0"})
	assertLimited(t, err, s.clock.Now().Add(90*time.Second), "secondary")
	s.step(91 * time.Second)
	_, err = c.Register(t.Context(), github.Registration{Name: "r0"})
	require.NoError(t, err)
}

func TestARefusedAppTokenLeaksNoConnection(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Clock: clock.RealClock{}})
	var open int
	count := roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			open++
			resp.Body = countedBody{ReadCloser: resp.Body, open: &open}
		}
		return resp, err
	})
	_, err := app.client(t, s, organization, github.WithTransport(count)).Register(t.Context(), github.Registration{Name: "r0"})
	assertDenied(t, err, 404)
	assert.Zero(t, open, "bodies that were not closed")
}

type countedBody struct {
	io.ReadCloser
	open *int
}

func (b countedBody) Close() error {
	*b.open--
	return b.ReadCloser.Close()
}

// A slow GitHub once blocked workers for 20 minutes: each waited for the App's token after the one before had timed out.
func TestSlownessOfTheAppsTokenIsNotMultipliedByThoseWhoWaitForIt(t *testing.T) {
	app := newApp(t)
	s := start(t, sim.Options{Clock: clock.RealClock{}, Apps: []sim.App{app.registered("*")}})
	c := app.client(t, s, organization, github.WithTimeout(500*time.Millisecond))
	s.fail(t, sim.Fault{Kind: sim.Slow, Route: sim.RouteToken})
	const waiting = 20
	errs, begin := make(chan error, waiting), make(chan struct{})
	for i := range waiting {
		go func() {
			<-begin
			_, err := c.Register(t.Context(), github.Registration{Name: fmt.Sprint("r", i)})
			errs <- err
		}()
	}
	close(begin)
	for range waiting {
		require.ErrorContains(t, <-errs, "GitHub did not answer within 500ms")
	}
	assert.Less(t, s.calls(sim.RouteToken), waiting, "those who waited share the deadline of their own call")
}
