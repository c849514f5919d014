// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
)

func TestWhatCannotBeTradedIsNotSent(t *testing.T) {
	c := newCloud(t)
	good := federation(t, c.here())
	unknown := onGKE(t, c.here())
	unknown.Issuer = ""
	for name, try := range map[string]struct {
		request identity.Request
		token   identity.Secret
		want    string
	}{
		"an empty token":                 {good, identity.Secret{}, "ci/build-job is empty"},
		"a request that is wrong":        {federation(t, c.here(), set{"mode": "x"}), c.token(good), "gcp.mode"},
		"a GKE cluster that has no name": {unknown, c.token(good), "gcp.workloadIdentityProvider"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gcp.New().Login(t.Context(), host, try.token, try.request)
			assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
			assert.ErrorContains(t, err, try.want)
			_, err = gcp.New().Probe(t.Context(), try.token, try.request)
			assert.ErrorContains(t, err, try.want)
		})
	}
	assert.Empty(t, c.server.History())
}

func TestSomethingThatIsNoTokenIsNamedAndNotQuoted(t *testing.T) {
	links, err := gcp.New().Probe(t.Context(), identity.NewSecret("hunter2"), federation(t))
	assert.Equal(t, []string{"token!"}, names(links))
	require.ErrorContains(t, err, "not a JSON Web Token")
	assert.NotContains(t, err.Error(), "hunter2")
}

func TestASignatureThatGoogleDoesNotTakeIsNamed(t *testing.T) {
	header, claims := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)), base64.RawURLEncoding.EncodeToString([]byte(`{}`))
	links, err := gcp.New().Probe(t.Context(), identity.NewSecret(header+"."+claims+".c2ln"), federation(t))
	assert.Equal(t, []string{"token!"}, names(links))
	require.ErrorContains(t, err, `signed with "HS256"; Google takes RS256, ES256`)
}

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAllCallsGoThroughTheClientThatIsGiven(t *testing.T) {
	c := newCloud(t)
	var asked []string
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.Method)
		return http.DefaultTransport.RoundTrip(r)
	})}
	r := federation(t, c.here(), set{"repositories": []string{testRepo}})
	_, err := gcp.New(gcp.WithHTTPClient(client)).Probe(t.Context(), c.token(r), r)
	require.NoError(t, err)
	assert.Equal(t, []string{"POST", "POST", "POST", "GET"}, asked, "STS, impersonation, permissions, repository")

	client.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })
	_, err = gcp.New(gcp.WithHTTPClient(client)).Login(t.Context(), host, c.token(r), r)
	assert.ErrorContains(t, err, "no route")
	assert.Equal(t, identity.Unreachable, identity.ReasonOf(err))
}
