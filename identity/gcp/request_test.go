// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
)

const (
	testProvider = "projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster"
	testCluster  = "https://container.googleapis.com/v1/projects/acme-ci/locations/europe-west1/clusters/ci"
	testMember   = "https://gkehub.googleapis.com/projects/acme-fleet/locations/global/memberships/ci"
	testAccount  = "ci@acme-ci.iam.gserviceaccount.com"
	testIssuer   = "https://oidc.acme.example/cluster"
	testRepo     = "europe-west1-docker.pkg.dev/acme-ci/images"
)

// set is settings to change; a nil value removes one.
type set map[string]any

// federation is a request that needs nothing of GKE, with settings changed.
func federation(t testing.TB, changes ...set) identity.Request {
	t.Helper()
	return request(t, testIssuer, set{"serviceAccount": testAccount, "workloadIdentityProvider": testProvider}, changes...)
}

// onGKE is a request in mode Metadata, with settings changed.
func onGKE(t testing.TB, changes ...set) identity.Request {
	t.Helper()
	return request(t, testCluster, set{"serviceAccount": testAccount}, changes...)
}

func request(t testing.TB, issuer string, settings set, changes ...set) identity.Request {
	t.Helper()
	settings = maps.Clone(settings)
	for _, change := range changes {
		for name, value := range change {
			if settings[name] = value; value == nil {
				delete(settings, name)
			}
		}
	}
	b, err := json.Marshal(settings)
	require.NoError(t, err)
	return identity.Request{
		Namespace: "ci", Name: "build", Accounts: identity.Accounts{Runner: "build-runner", Job: "build-job"},
		Targets: identity.Job, Issuer: issuer, Settings: b,
	}
}
