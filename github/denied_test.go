// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/github"
	sim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestDeniedSaysWhatMendsIt(t *testing.T) {
	for name, test := range map[string]struct {
		scope  github.Scope
		app    bool
		scopes []string // what exists
		status int
		want   string
	}{
		"a token without admin:org": {
			scope: organization, status: 403,
			want: "GitHub answered 403 (Must have admin rights to Repository.): " +
				"give the token the scope admin:org (fine-grained: the organisation permission 'Self-hosted runners: write')",
		},
		"a token without the repository": {
			scope: repository, status: 403,
			want: "GitHub answered 403 (Must have admin rights to Repository.): " +
				"give the token the scope repo and its owner the admin role there (fine-grained: the repository permission 'Administration: write')",
		},
		"a token without the enterprise": {
			scope: enterprise, status: 403,
			want: "GitHub answered 403 (Must have admin rights to Repository.): give the token the scope manage_runners:enterprise",
		},
		"an organisation with a wrong name": {
			scope: organization, scopes: []string{"orgs/acme-inc"}, status: 404,
			want: "GitHub answered 404 (Not Found): check that organization acme exists and is spelled so, and " +
				"give the token the scope admin:org (fine-grained: the organisation permission 'Self-hosted runners: write')",
		},
		"an App without the organisation's permission": {
			scope: organization, app: true, status: 403,
			want: "GitHub answered 403 (Resource not accessible by integration): " +
				"give the App the organisation permission 'Self-hosted runners: write', accept it, and install the App there",
		},
		"an App that is not on the repository": {
			scope: repository, app: true, scopes: []string{"repos/acme/other"}, status: 404,
			want: "GitHub answered 404 (Not Found): check that repository acme/website exists and is spelled so, and " +
				"give the App the repository permission 'Administration: write', accept it, and install the App on that repository",
		},
		"an App for an enterprise": {
			scope: enterprise, app: true, status: 403,
			want: "GitHub answered 403 (Resource not accessible by integration): " +
				"give the App the enterprise permission 'Self-hosted runners: write', or use a token with the scope manage_runners:enterprise",
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := newApp(t)
			s := start(t, sim.Options{Scopes: test.scopes, Tokens: []sim.Token{{Value: token}}, Apps: []sim.App{app.registered()}})
			c := s.client(t, test.scope)
			if test.app {
				c = app.client(t, s, test.scope)
			}
			_, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
			require.EqualError(t, err, `register runner "web-1" with `+test.scope.String()+": "+test.want)
			assertDenied(t, err, test.status)
		})
	}
}

func TestATokenThatIsNotOne(t *testing.T) {
	s := start(t, sim.Options{})
	c := newClient(t, s.credentials(t, "ghp_wrong"), organization)
	_, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.EqualError(t, err, `register runner "web-1" with organization acme: GitHub answered 401 (Bad credentials): `+
		"github_token is wrong, expired or revoked: put a valid one into the Secret")
	assertDenied(t, err, 401)
}

func TestATokenThatNeedsSingleSignOn(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-GitHub-SSO", "required; url=https://github.com/orgs/acme/sso?authorization_request=hidden")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message": "Resource protected by organization SAML enforcement."}`))
	})
	_, _, err := c.Find(t.Context(), "web-1")
	require.EqualError(t, err, `find runner "web-1" in organization acme: GitHub answered 403 (Resource protected by organization SAML enforcement.): `+
		"authorise github_token for the single sign-on of organization acme")
}

func TestALostRightDoesNotLookLikeRunnersBeingGone(t *testing.T) {
	s := start(t, sim.Options{})
	c := s.client(t, organization)
	runner, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.NoError(t, err)

	s.step(2 * time.Minute)
	s.SetScopes("orgs/other") // the token lost sight of acme: GitHub answers 404 for everything in it
	_, _, err = c.Status(t.Context(), runner.ID)
	assertDenied(t, err, 404)
	assertDenied(t, c.Remove(t.Context(), runner.ID), 404)
}

func TestRunnersThatAreGoneCostOneCallEach(t *testing.T) {
	s := start(t, sim.Options{})
	c := s.client(t, organization)
	for id := range int64(10) {
		require.NoError(t, c.Remove(t.Context(), id+1))
	}
	assert.Equal(t, 10, s.calls(sim.RouteRemove))
	assert.Equal(t, 1, s.calls(sim.RouteFind), "one call proves the scope for a minute")
}

func TestErrorsHoldNoTokenThatTheServerEchoes(t *testing.T) {
	for name, echo := range map[string]string{
		"a classic token":       token,
		"an installation token": "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
		"a fine-grained token":  "github_pat_11AAAAAAA0abcdefghijkl_mnopqrstuvwxyz",
		"an App's JWT":          "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMiJ9.c2lnbmF0dXJl-_x",
	} {
		for _, status := range []int{400, 401, 403, 404, 409, 422, 500} {
			c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = w.Write([]byte(`{"message": "debug: Authorization: Bearer ` + echo + `!", "errors": ["` + echo + `"]}`))
			})
			_, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
			require.Error(t, err)
			assert.NotContains(t, err.Error(), echo, "%s, %d", name, status)
		}
	}
}

func TestALongAnswerIsCutShort(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"message": "` + strings.Repeat("é", 5000) + `"}`))
	})
	_, _, err := c.Find(t.Context(), "web-1")
	require.EqualError(t, err, `find runner "web-1" in organization acme: GitHub answered 500: `+strings.Repeat("é", 300)+"…")
}

// answering is a client of a server that answers as the handler does.
func answering(t *testing.T, h http.HandlerFunc) *github.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return newClient(t, parse(t, map[string]string{github.KeyToken: token, github.KeyEnterpriseURL: server.URL}), organization)
}

func assertDenied(t *testing.T, err error, status int) {
	t.Helper()
	denied, ok := errors.AsType[*github.Denied](err)
	if assert.True(t, ok, "%v is not Denied", err) {
		assert.Equal(t, status, denied.Status)
	}
}
