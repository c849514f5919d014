// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/registry"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

// offline is a world whose issuer is no cluster.
func offline(t *testing.T) (w *world, token func(audience string) string) {
	t.Helper()
	i, err := sim.NewIssuer("https://oidc.example.com/id/cluster")
	require.NoError(t, err)
	keys := httptest.NewServer(i)
	t.Cleanup(keys.Close)
	return newWorld(t, issuer{url: i.URL, jwks: keys.URL}, "ci", "runner"), func(audience string) string {
		token, err := i.Token(sim.Subject{Namespace: "ci", Account: "runner", Audience: audience, Issued: time.Now(), Lifetime: time.Hour})
		require.NoError(t, err)
		return token
	}
}

func digest(t *testing.T, img v1.Image) string {
	t.Helper()
	d, err := img.Digest()
	require.NoError(t, err)
	return d.String()
}

func TestTheRegistriesTakeOnlyWhatTheirCloudIssued(t *testing.T) {
	w, token := offline(t)
	ecrLogin, arLogin := w.ecrLogin(t, token("sts.amazonaws.com")), w.arLogin(t, token("https://iam.googleapis.com/"+provider))
	img := anImage(t)
	for _, ref := range []string{ecrImage, "444455556666.dkr.ecr.eu-west-1.amazonaws.com/team/runner:1"} {
		require.NoError(t, w.ecr.Put(t.Context(), ref, img))
	}
	for _, ref := range []string{arImage, arHost + "/acme-prod/images/runner:1"} {
		require.NoError(t, w.ar.Put(t.Context(), ref, img))
	}
	for name, tt := range map[string]struct {
		registry *registry.Registry
		image    string
		login    authn.Authenticator
		want     string
	}{
		"ECR takes ECR's login":                  {w.ecr, ecrImage, authn.FromConfig(ecrLogin), ""},
		"ECR wants a login":                      {w.ecr, ecrImage, authn.Anonymous, "no basic auth credentials"},
		"ECR refuses an invented one":            {w.ecr, ecrImage, authn.FromConfig(authn.AuthConfig{Username: "AWS", Password: "guess"}), "Not Authorized"},
		"ECR refuses Google's":                   {w.ecr, ecrImage, authn.FromConfig(arLogin), "Not Authorized"},
		"another account's ECR refuses it":       {w.ecr, "444455556666.dkr.ecr.eu-west-1.amazonaws.com/team/runner:1", authn.FromConfig(ecrLogin), "not authorized to perform"},
		"another region's ECR refuses it":        {w.ecr, "111122223333.dkr.ecr.us-east-1.amazonaws.com/team/runner:1", authn.FromConfig(ecrLogin), "not authorized to perform"},
		"AR takes an access token":               {w.ar, arImage, authn.FromConfig(arLogin), ""},
		"AR wants a login":                       {w.ar, arImage, authn.Anonymous, "authentication failed"},
		"AR refuses ECR's login":                 {w.ar, arImage, authn.FromConfig(ecrLogin), "authentication failed"},
		"another project's repository denies it": {w.ar, arHost + "/acme-prod/images/runner:1", authn.FromConfig(arLogin), "artifactregistry.repositories.downloadArtifacts"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := pull(t, tt.registry.Transport(), tt.image, tt.login)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, digest(t, img), digest(t, got))
		})
	}
}

func TestALoginIsRefusedOnceItHasExpired(t *testing.T) {
	w, token := offline(t)
	ecrLogin, arLogin := w.ecrLogin(t, token("sts.amazonaws.com")), w.arLogin(t, token("https://iam.googleapis.com/"+provider))
	require.NoError(t, w.ecr.Put(t.Context(), ecrImage, anImage(t)))
	require.NoError(t, w.ar.Put(t.Context(), arImage, anImage(t)))
	_, err := pull(t, w.ecr.Transport(), ecrImage, authn.FromConfig(ecrLogin))
	require.NoError(t, err)
	_, err = pull(t, w.ar.Transport(), arImage, authn.FromConfig(arLogin))
	require.NoError(t, err)

	w.aws.Expire()
	w.gcp.Expire()

	_, err = pull(t, w.ecr.Transport(), ecrImage, authn.FromConfig(ecrLogin))
	require.ErrorContains(t, err, "expired")
	_, err = pull(t, w.ar.Transport(), arImage, authn.FromConfig(arLogin))
	require.ErrorContains(t, err, "authentication failed")
}

func TestPushingNeedsMoreThanPullingInArtifactRegistry(t *testing.T) {
	w, token := offline(t)
	arLogin := w.arLogin(t, token("https://iam.googleapis.com/"+provider))

	err := image.Push(t.Context(), arImage, anImage(t), remote.WithTransport(w.ar.Transport()), remote.WithAuth(authn.FromConfig(arLogin)))

	require.ErrorContains(t, err, "artifactregistry.repositories.uploadArtifacts")
}

func TestPullsAndPushesAreCounted(t *testing.T) {
	w, token := offline(t)
	login := authn.FromConfig(w.ecrLogin(t, token("sts.amazonaws.com")))

	require.NoError(t, image.Push(t.Context(), ecrImage, anImage(t), remote.WithTransport(w.ecr.Transport()), remote.WithAuth(login)))
	_, err := pull(t, w.ecr.Transport(), ecrImage, login)
	require.NoError(t, err)

	assert.Equal(t, 1, w.ecr.Calls.Count(ecrHost, registry.Push))
	last := w.ecr.Calls.History()[len(w.ecr.Calls.History())-1]
	assert.Equal(t, "111122223333", last.Principal)
	assert.Equal(t, registry.Pull, last.Action)
	assert.Equal(t, sim.OK, last.Outcome)
}
