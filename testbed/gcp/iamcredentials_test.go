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

func TestAnAccountLetsInWhomItsBindingsName(t *testing.T) {
	for member, want := range map[string]int{
		poolMember: http.StatusOK,
		"principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/attribute.namespace/ci":    http.StatusOK,
		"principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/*":                         http.StatusOK,
		"principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/attribute.namespace/other": http.StatusForbidden,
		"serviceAccount:acme-ci.svc.id.goog[ci/job]": http.StatusForbidden, // of GKE, and the token is the pool's
		gkeMember: http.StatusForbidden,
	} {
		w := newWorld(t, func(c *gcp.Config) {
			c.ServiceAccounts[account] = gcp.ServiceAccount{WorkloadIdentityUsers: []string{member}}
		})
		got := w.impersonated("")
		assert.Equal(t, want, got.status, member)
		if want == http.StatusOK {
			ends, err := time.Parse(time.RFC3339, got.text("expireTime"))
			require.NoError(t, err)
			assert.Equal(t, w.clock.Now().Add(time.Hour).UTC(), ends)
			continue
		}
		assert.Equal(t, "PERMISSION_DENIED", got.text("status"))
		assert.Equal(t, "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).", got.text("message"))
		assert.Contains(t, got.raw, `"reason":"IAM_PERMISSION_DENIED"`)
	}
}

func TestALifetimeOfMoreThanAnHourNeedsThePolicy(t *testing.T) {
	w := newWorld(t)
	assert.Equal(t, http.StatusOK, w.impersonated("3600s").status)
	assert.Equal(t, "INVALID_ARGUMENT", w.impersonated("3601s").text("status"))
	assert.Equal(t, "INVALID_ARGUMENT", w.impersonated("soon").text("status"))
	w = newWorld(t, func(c *gcp.Config) {
		c.ServiceAccounts[account] = gcp.ServiceAccount{WorkloadIdentityUsers: []string{poolMember}, ExtendedLifetime: true}
	})
	assert.Equal(t, http.StatusOK, w.impersonated("43200s").status)
	assert.Equal(t, "INVALID_ARGUMENT", w.impersonated("43201s").text("status"))
}

func TestNobodyIsLetInWithoutAGoodToken(t *testing.T) {
	w := newWorld(t)
	path := "/v1/projects/-/serviceAccounts/" + account + ":generateAccessToken"
	body := map[string]any{"scope": []string{"x"}}
	dead := w.federated()
	w.server.Expire()
	for _, bearer := range []string{"", "x", dead} {
		got := w.asJSON(path, bearer, body)
		assert.Equal(t, http.StatusUnauthorized, got.status)
		assert.Contains(t, got.text("message"), "Request had invalid authentication credentials. Expected OAuth 2 access token")
	}
	assert.Equal(t, http.StatusBadRequest, w.asJSON(path, w.federated(), map[string]any{"scope": []string{"x"}, "delegates": []string{"y"}}).status)
}
