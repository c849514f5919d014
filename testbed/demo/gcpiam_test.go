// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/testbed/cluster"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
)

// inCluster is a world in which nothing is started: a sample, and a cluster of which the issuer is known.
func inCluster(t *testing.T, provider, path string) *world {
	t.Helper()
	f, err := formOf(provider)
	require.NoError(t, err)
	s, err := readSample(path)
	require.NoError(t, err)
	return &world{form: f, sample: s, deployment: s.deployment, cluster: &cluster.Cluster{Issuer: cluster.DefaultIssuer}}
}

func TestTheSimulatedGoogleIsWhatTheTrustCommandPrintsAndNoMore(t *testing.T) {
	w := inCluster(t, "gcp", "../../config/samples/gcp-federation.yaml")
	_, trust, err := w.trust()
	require.NoError(t, err)
	got, err := obey(trust, gcpsim.Provider{JWKS: "https://127.0.0.1/keys"})
	require.NoError(t, err)
	const account = "ci@acme-ci.iam.gserviceaccount.com"
	assert.Equal(t, gcpsim.Config{
		Providers: []gcpsim.Provider{{
			Name:   "projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster",
			Issuer: cluster.DefaultIssuer, JWKS: "https://127.0.0.1/keys",
		}},
		// One member: the binding of the whole namespace is printed in place of this one, not beside it.
		ServiceAccounts: map[string]gcpsim.ServiceAccount{account: {WorkloadIdentityUsers: []string{
			"principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/system:serviceaccount:ci:website-runner",
		}}},
		Repositories: map[string]gcpsim.Repository{"projects/acme-ci/locations/europe-west1/repositories/images": {
			Bindings: map[string][]string{"roles/artifactregistry.reader": {"serviceAccount:" + account}},
		}},
	}, got)
}

func TestObeyTakesEachCommandAsGcloudWould(t *testing.T) {
	const create = "gcloud iam workload-identity-pools providers create-oidc x --project 1 --location global --workload-identity-pool p --issuer-uri https://issuer.test"
	const bind = "gcloud iam service-accounts add-iam-policy-binding a@p.iam.gserviceaccount.com --project p "
	for name, c := range map[string]struct {
		body    string
		want    func(*gcpsim.Config)
		wantErr string
	}{
		"audiences that are allowed take the place of the provider's own": {
			body: create + " --allowed-audiences 'a,b'\n",
			want: func(c *gcpsim.Config) {
				c.Providers = []gcpsim.Provider{{Name: "projects/1/locations/global/workloadIdentityPools/p/providers/x", Issuer: "https://issuer.test", Audiences: []string{"a", "b"}}}
			},
		},
		"members add up": {
			body: bind + "--role roles/iam.workloadIdentityUser --member 'm1'\n" + bind + "--role roles/iam.workloadIdentityUser --member 'm2'\n",
			want: func(c *gcpsim.Config) {
				c.ServiceAccounts["a@p.iam.gserviceaccount.com"] = gcpsim.ServiceAccount{WorkloadIdentityUsers: []string{"m1", "m2"}}
			},
		},
		"another role on a service account lets nobody be it": {
			body: bind + "--role roles/iam.serviceAccountViewer --member 'm1'\n",
			want: func(c *gcpsim.Config) { c.ServiceAccounts["a@p.iam.gserviceaccount.com"] = gcpsim.ServiceAccount{} },
		},
		"a command that is not known is not passed over": {
			body: "gcloud container clusters update runners --project acme-ci\n", wantErr: `cannot run "gcloud container clusters update" "runners"`,
		},
		"a line that is no command is not passed over": {body: "principal\n", wantErr: `cannot run "" "principal"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := obey(identity.Trust{Documents: []identity.Document{{Body: c.body}}}, gcpsim.Provider{})
			if c.wantErr != "" {
				require.ErrorContains(t, err, c.wantErr)
				return
			}
			require.NoError(t, err)
			want := gcpsim.Config{ServiceAccounts: map[string]gcpsim.ServiceAccount{}, Repositories: map[string]gcpsim.Repository{}}
			c.want(&want)
			assert.Equal(t, want, got)
		})
	}
}

func TestTheDemoSaysWhatItCannotShow(t *testing.T) {
	_, err := formOf("azure")
	require.EqualError(t, err, `provider "azure": there is a demo for aws and gcp`)

	_, _, err = inCluster(t, "aws", "../../config/samples/gcp-federation.yaml").trust()
	require.ErrorContains(t, err, "make demo PROVIDER=gcp")

	_, _, err = inCluster(t, "gcp", "../../config/samples/gcp-gke.yaml").trust()
	require.ErrorContains(t, err, cluster.DefaultIssuer, "a control plane on this machine is no GKE cluster")
}
