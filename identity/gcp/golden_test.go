// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/internal/golden"
)

func TestPlansAndTrustDocumentsOfUsualRequests(t *testing.T) {
	fleet := federation(t, set{"workloadIdentityProvider": testMember, "workloadPool": "acme-fleet.svc.id.goog"})
	unknown := onGKE(t)
	unknown.Issuer = ""
	both := federation(t, set{"serviceAccount": nil, "projectID": "acme-ci"})
	both.Targets = identity.Both
	for name, r := range map[string]identity.Request{
		"federation": federation(t, set{"repositories": []string{testRepo}, "accessTokenLifetime": "2h"}),
		"federation-of-runner-and-job-without-an-account": both,
		"federation-with-everything": federation(t, set{"region": "europe-west1", "quotaProject": "acme-quota", "audience": "sts.googleapis.com", "tokenLifetime": "1h",
			"endpoints": set{"sts": "https://sts.p.googleapis.com/", "iamCredentials": "https://iamcredentials.p.googleapis.com"}}),
		"federation-on-gke-for-pods-on-the-host-network": onGKE(t, set{"mode": "Federation", "workloadIdentityProvider": testCluster}),
		"fleet":                          fleet,
		"metadata":                       onGKE(t, set{"repositories": []string{"gcr.io/acme-ci"}, "nodeSelector": "Always", "quotaProject": "acme-quota", "region": "europe-west1"}),
		"metadata-without-an-account":    onGKE(t, set{"serviceAccount": nil, "principalIDAsEmail": true, "imagePull": true, "projectNumber": "123456789012", "projectID": "acme-ci"}),
		"metadata-of-an-unknown-cluster": unknown,
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := gcp.New().Plan(r)
			require.NoError(t, err)
			b, err := yaml.Marshal(plan)
			require.NoError(t, err)
			golden.Check(t, name+".plan.yaml", string(b))
			trust, err := gcp.New().Trust(r)
			require.NoError(t, err)
			var text strings.Builder
			for _, d := range trust.Documents {
				text.WriteString("# " + d.Title + "\n" + d.Body + "\n")
			}
			golden.Check(t, name+".trust.sh", text.String())
		})
	}
}
