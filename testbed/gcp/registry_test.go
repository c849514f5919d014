// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/gcp"
)

const app = "acme-ci/images/app"

// login asks the token endpoint of the registry.
func (w *world) login(user, password, scope string) reply {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+"/v2/token?service="+host+"&scope="+scope, nil)
	if err == nil && user != "" {
		request.SetBasicAuth(user, password)
	}
	return w.do(request, err)
}

func TestARegistryTakesAnAccessTokenUnderAnyNameThatEndsInToken(t *testing.T) {
	w := newWorld(t)
	token := w.impersonated("").text("accessToken")
	for _, user := range []string{"oauth2accesstoken", "_token", "_dcgcloud_token", "_dcgcr_2_1_5_token"} {
		got := w.login(user, token, "repository:"+app+":pull")
		assert.Equal(t, http.StatusOK, got.status, user)
		assert.NotEmpty(t, got.text("token"))
	}
	for _, user := range []string{"", "AWS", "_json_key", "token"} {
		assert.Equal(t, http.StatusUnauthorized, w.login(user, token, "repository:"+app+":pull").status, user)
	}
}

// crossplane #3023, berglas #128.
func TestARegistrySaysDENIEDInTheWordsThatUsersReport(t *testing.T) {
	w := newWorld(t)
	token := w.impersonated("").text("accessToken")
	got := w.login("oauth2accesstoken", token, "repository:acme-ci/other/app:pull")
	assert.Equal(t, http.StatusForbidden, got.status)
	assert.Contains(t, got.raw, `Permission \"artifactregistry.repositories.downloadArtifacts\" denied on resource \"projects/acme-ci/locations/europe-west1/repositories/other\" (or it may not exist)`)
	got = w.login("oauth2accesstoken", token, "repository:"+app+":pull,push")
	assert.Equal(t, http.StatusForbidden, got.status)
	assert.Contains(t, got.raw, "artifactregistry.repositories.uploadArtifacts")
}

// buildkit #5852, buildx #3977: a token that was good when the build began.
func TestALoginIsDeadOnceItsTimeHasCome(t *testing.T) {
	w := newWorld(t)
	token := w.impersonated("600s").text("accessToken")
	_, err := w.server.Verify("oauth2accesstoken", token, gcp.Scope{Host: host, Path: app})
	require.NoError(t, err)
	w.clock.Step(10 * time.Minute)
	_, err = w.server.Verify("oauth2accesstoken", token, gcp.Scope{Host: host, Path: app})
	require.ErrorIs(t, err, gcp.ErrExpiredToken)
	assert.Equal(t, http.StatusUnauthorized, w.login("oauth2accesstoken", token, "repository:"+app+":pull").status)
}

func TestHostsSayWhereRepositoriesAre(t *testing.T) {
	w := newWorld(t, func(c *gcp.Config) {
		reader := gcp.Repository{Bindings: map[string][]string{"roles/artifactregistry.reader": {"serviceAccount:" + account}}}
		c.Repositories = map[string]gcp.Repository{
			"projects/acme-ci/locations/us/repositories/gcr.io":                  reader,
			"projects/acme-ci/locations/europe/repositories/eu.gcr.io":           reader,
			"projects/acme-ci/locations/us-east1/repositories/a":                 reader,
			"projects/example.com:acme-ci/locations/europe-west1/repositories/b": reader,
		}
	})
	token := w.impersonated("").text("accessToken")
	for scope, want := range map[gcp.Scope]error{
		{Host: "gcr.io", Path: "acme-ci/app"}:                        nil,
		{Host: "us.gcr.io", Path: "acme-ci/app"}:                     gcp.ErrForeignRepository,
		{Host: "eu.gcr.io", Path: "acme-ci/team/app"}:                nil,
		{Host: "docker.us-east1.rep.pkg.dev", Path: "acme-ci/a/app"}: nil,
		{Host: "us-east1-docker.pkg.dev", Path: "acme-ci/a/app"}:     nil,
		{Host: "us-docker.pkg.dev", Path: "acme-ci/a/app"}:           gcp.ErrForeignRepository,
		{Host: host, Path: "example.com/acme-ci/b/app"}:              nil,
		{Host: host + ":443"}:                                        nil,
	} {
		_, err := w.server.Verify("oauth2accesstoken", token, scope)
		assert.ErrorIs(t, err, want, "%v", scope)
	}
	_, err := w.server.Verify("oauth2accesstoken", token, gcp.Scope{Host: "ghcr.io"})
	assert.ErrorContains(t, err, "ghcr.io")
}

func TestPingSendsClientsToTheTokenEndpoint(t *testing.T) {
	w := newWorld(t)
	got := w.get("/v2/", "")
	assert.Equal(t, http.StatusUnauthorized, got.status)
	assert.Contains(t, got.header.Get("WWW-Authenticate"), `/v2/token",service=`)
	assert.Equal(t, http.StatusOK, w.get("/v2/", w.impersonated("").text("accessToken")).status)
}

func TestArtifactRegistryAnswersByPermission(t *testing.T) {
	w := newWorld(t)
	token := w.impersonated("").text("accessToken")
	got := w.get("/v1/"+images, token)
	assert.Equal(t, "DOCKER", got.text("format"))
	got = w.get("/v1/projects/acme-ci/locations/us/repositories/none", token)
	assert.Equal(t, http.StatusForbidden, got.status)
	assert.Contains(t, got.text("message"), "(or it may not exist)")
	asked := map[string]any{"permissions": []string{"artifactregistry.repositories.downloadArtifacts", "artifactregistry.repositories.uploadArtifacts"}}
	got = w.asJSON("/v1/"+images+":testIamPermissions", token, asked)
	assert.Equal(t, []any{"artifactregistry.repositories.downloadArtifacts"}, got.fields["permissions"])
	got = w.asJSON("/v1/"+images+":testIamPermissions", w.federated(), asked)
	assert.Len(t, got.fields["permissions"], 2, "the pool's member may write")
	assert.Equal(t, http.StatusUnauthorized, w.asJSON("/v1/"+images+":testIamPermissions", "", asked).status)
}
