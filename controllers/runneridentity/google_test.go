// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runneridentity"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	simgcp "github.com/runner-identity/runner-identity/testbed/gcp"
)

const (
	googlePool     = "projects/123456789012/locations/global/workloadIdentityPools/ci"
	googleProvider = googlePool + "/providers/cluster"
	googleAccount  = "ci@acme-ci.iam.gserviceaccount.com"
	googleHost     = "europe-west1-docker.pkg.dev"
)

// newGoogle is the same world with Google for a cloud: the controller is the same, and knows no difference.
func newGoogle(t *testing.T) (*world, *simgcp.Server, *runneridentity.Controller) {
	t.Helper()
	w := newWorld(t)
	client, err := w.cluster.HTTPClient()
	require.NoError(t, err)
	cloud, err := simgcp.New(simgcp.Config{
		Clock:     w.clock,
		Providers: []simgcp.Provider{{Name: googleProvider, Issuer: w.cluster.Issuer, JWKS: w.cluster.JWKSURL, Client: client}},
		ServiceAccounts: map[string]simgcp.ServiceAccount{googleAccount: {WorkloadIdentityUsers: []string{
			"principal://iam.googleapis.com/" + googlePool + "/subject/system:serviceaccount:" + w.namespace + ":ci-runner",
		}}},
		Repositories: map[string]simgcp.Repository{"projects/acme-ci/locations/europe-west1/repositories/images": {
			Bindings: map[string][]string{"roles/artifactregistry.reader": {"serviceAccount:" + googleAccount}},
		}},
	})
	require.NoError(t, err)
	url := cloud.Start()
	t.Cleanup(cloud.Close)
	w.provider = w.newProvider(t, w.namespace+"-google", url, func(s *v1alpha1.IdentityProviderSpec) {
		s.Plugin, s.AWS = "gcp", nil
		s.GCP = &v1alpha1.GCPDefaults{
			GCPIdentity: v1alpha1.GCPIdentity{WorkloadIdentityProvider: googleProvider},
			Endpoints:   v1alpha1.GCPEndpoints{STS: url, IAMCredentials: url, ArtifactRegistry: url},
		}
	})
	providers, err := identity.NewSet(gcp.New(gcp.WithClock(w.clock)))
	require.NoError(t, err)
	c := w.controller(t)
	c.Providers = providers
	return w, cloud, c
}

func (w *world) newGoogleIdentity(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, w.Create(t.Context(), &v1alpha1.RunnerIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: v1alpha1.RunnerIdentitySpec{IdentityProvider: w.provider, Identity: v1alpha1.Identity{
			Registries: []string{googleHost},
			GCP:        &v1alpha1.GCPIdentity{ServiceAccount: googleAccount, Repositories: []string{googleHost + "/acme-ci/images"}},
		}},
	}))
}

// external-secrets#6690: a login of minutes, renewed every hour, was dead most of the time.
func TestALoginOfFiveMinutesNeverLeavesTheSecretExpired(t *testing.T) {
	w, cloud, c := newGoogle(t)
	cloud.SetLifetimes(simgcp.Lifetimes{Federated: 5 * time.Minute, Account: 5 * time.Minute})
	w.newGoogleIdentity(t, "ci")
	ri, result := w.reconcile(t, c, "ci")
	require.Equal(t, "True Ready: pods get this identity", condition(ri, v1alpha1.ConditionReady))

	renewals := map[string]bool{}
	for begin := w.clock.Now(); w.clock.Since(begin) < time.Hour; {
		require.Positive(t, result.RequeueAfter, "somebody comes back")
		w.clock.Step(result.RequeueAfter)
		user, password := login(t, w.secret(t, "ci-registry"), googleHost)
		who, err := cloud.Verify(user, password, simgcp.Scope{Host: googleHost, Path: "acme-ci/images/app"})
		require.NoError(t, err, "just before the renewal the registry still takes the login")
		require.Equal(t, googleAccount, who)
		renewals[password] = true
		ri, result = w.reconcile(t, c, "ci")
		require.Contains(t, condition(ri, v1alpha1.ConditionRegistryLoginReady), "True")
	}
	assert.GreaterOrEqual(t, len(renewals), 12, "a renewal every five minutes at least")
	assert.LessOrEqual(t, len(renewals), 40, "and none each few seconds")
}

func TestAMissingBindingIsToldInGooglesTermsAndHoldsNobodyElseUp(t *testing.T) {
	w, _, c := newGoogle(t)
	w.newGoogleIdentity(t, "ci")
	w.newGoogleIdentity(t, "stranger")
	ri, _ := w.reconcile(t, c, "stranger")
	said := condition(ri, v1alpha1.ConditionPrincipalVerified)
	assert.Contains(t, said, "False IdentityDenied")
	assert.Contains(t, said, "roles/iam.workloadIdentityUser")
	assert.Contains(t, said, "system:serviceaccount:"+w.namespace+":stranger-runner", "whom to bind")
	assert.NotNil(t, ri.Status.Plan)

	good, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(good, v1alpha1.ConditionReady), "True", "the one does not hold the other up")
}
