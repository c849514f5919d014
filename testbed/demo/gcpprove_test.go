// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

const (
	testProvider = "projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster"
	testAccount  = "ci@acme-ci.iam.gserviceaccount.com"
	// anybody is a member that every ServiceAccount of the cluster is.
	anybody = "principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/*"
)

// lettingIn is a Google that lets a member be the service account and read the image, and a federated token of a stranger.
func lettingIn(t *testing.T, member string) (g *gcpCloud, c gcpCredentials, federated string) {
	t.Helper()
	issuer, err := sim.NewIssuer("https://issuer.test")
	require.NoError(t, err)
	keys := httptest.NewServer(issuer)
	t.Cleanup(keys.Close)
	g = &gcpCloud{image: "europe-west1-docker.pkg.dev/acme-ci/images/runner"}
	g.server, err = gcpsim.New(gcpsim.Config{
		Providers:       []gcpsim.Provider{{Name: testProvider, Issuer: "https://issuer.test", JWKS: keys.URL}},
		ServiceAccounts: map[string]gcpsim.ServiceAccount{testAccount: {WorkloadIdentityUsers: []string{member}}},
		Repositories: map[string]gcpsim.Repository{"projects/acme-ci/locations/europe-west1/repositories/images": {
			Bindings: map[string][]string{"roles/artifactregistry.reader": {member}},
		}},
	})
	require.NoError(t, err)
	t.Cleanup(g.stop)
	g.url = g.server.Start()
	c = gcpCredentials{
		Audience: "//iam.googleapis.com/" + testProvider, SubjectTokenType: "urn:ietf:params:oauth:token-type:jwt", TokenURL: g.url + "/v1/token",
		ImpersonationURL: g.url + "/v1/projects/-/serviceAccounts/" + testAccount + ":generateAccessToken",
	}
	token, err := issuer.Token(sim.Subject{Namespace: namespace, Account: "default", Audience: "https://iam.googleapis.com/" + testProvider, Issued: time.Now(), Lifetime: time.Hour})
	require.NoError(t, err)
	answer, err := c.federate(t.Context(), token)
	require.NoError(t, err)
	return g, c, answer.AccessToken
}

func TestTheProofFailsIfAStrangerIsLetIn(t *testing.T) {
	direct := func(c gcpCredentials) gcpCredentials { c.ImpersonationURL = ""; return c }

	g, c, federated := lettingIn(t, anybody)
	_, err := g.refusal(t.Context(), c, federated)
	require.ErrorIs(t, err, errNotRefused, "as a service account")
	_, err = g.refusal(t.Context(), direct(c), federated)
	require.ErrorIs(t, err, errNotRefused, "direct")

	g, c, federated = lettingIn(t, "nobody")
	said, err := g.refusal(t.Context(), c, federated)
	require.NoError(t, err)
	assert.Equal(t, "HTTP 403: Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).", said)
	said, err = g.refusal(t.Context(), direct(c), federated)
	require.NoError(t, err)
	assert.Contains(t, said, "HTTP 403: Permission \"artifactregistry.repositories.downloadArtifacts\" denied")
}

func TestAFailureIsNotTakenForARefusal(t *testing.T) {
	g, c, federated := lettingIn(t, "nobody")
	require.NoError(t, g.server.Inject(sim.Fault{Service: gcpsim.IAMCredentials, Kind: sim.Answer, Status: 400, Body: "{}", Count: 1}))
	_, err := g.refusal(t.Context(), c, federated)
	require.ErrorIs(t, err, errNotRefused)
	assert.ErrorContains(t, err, "400")
	g.server.Expire()
	_, err = g.refusal(t.Context(), c, federated)
	require.ErrorIs(t, err, errNotRefused, "a token that has ended is refused too, and proves nothing")
}
