// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/testbed/cluster"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

func TestMain(m *testing.M) { cluster.Main(m) }

// A real is a cloud that takes the tokens of a real API server.
type real struct {
	cloud
	kube      kubernetes.Interface
	namespace string
}

func newReal(t *testing.T) real {
	t.Helper()
	cl := cluster.Shared(t)
	found, err := sim.FindCluster(t.Context(), cl.Config, "")
	require.NoError(t, err)
	kube, err := kubernetes.NewForConfig(cl.Config)
	require.NoError(t, err)
	ns := cl.Namespace(t)
	_, err = kube.CoreV1().ServiceAccounts(ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Name: "build-job", Annotations: map[string]string{"iam.gke.io/gcp-service-account": testAccount},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	c := newCloud(t, func(c *gcpsim.Config) {
		for i := range c.Providers {
			c.Providers[i].Issuer, c.Providers[i].JWKS, c.Providers[i].Client = found.Issuer, found.JWKS, found.Client
		}
		c.ServiceAccounts[testAccount] = gcpsim.ServiceAccount{WorkloadIdentityUsers: []string{
			"principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/system:serviceaccount:" + ns + ":build-job",
			"serviceAccount:acme-ci.svc.id.goog[" + ns + "/build-job]",
		}}
	})
	return real{cloud: *c, kube: kube, namespace: ns}
}

// ask is what the controller does for a request: a token of the account that the plan names.
func (r real) ask(t *testing.T, request identity.Request) identity.Secret {
	t.Helper()
	plan, err := gcp.New().Plan(request)
	require.NoError(t, err)
	token, err := gcpsim.ClusterPod(r.kube, request.Namespace, request.Exchange()).Token(t.Context(), plan.Exchange.Audience)
	require.NoError(t, err)
	return identity.NewSecret(token)
}

func TestTokensOfARealAPIServerAreTradedForLoginsAndForNothingElse(t *testing.T) {
	world := newReal(t)
	r := federation(t, world.here(), set{"repositories": []string{testRepo}})
	r.Namespace, r.Issuer = world.namespace, ""
	token := world.ask(t, r)
	links, err := gcp.New().Probe(t.Context(), token, r)
	require.NoError(t, err)
	assert.Equal(t, []string{"token", "sts", "impersonation", "repository"}, names(links))
	login, err := gcp.New().Login(t.Context(), host, token, r)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Hour), login.Expires, slack)
	_, err = world.server.Verify(login.Username, login.Password.Reveal(), gcpsim.Scope{Host: host, Path: "acme-ci/images/app"})
	require.NoError(t, err)
	_, err = world.server.Verify(login.Username, login.Password.Reveal(), gcpsim.Scope{Host: host, Path: "acme-ci/images/app", Push: true})
	require.ErrorIs(t, err, gcpsim.ErrForeignRepository)

	forged := newCloud(t).token(r)
	_, err = gcp.New().Login(t.Context(), host, forged, r)
	assert.Equal(t, identity.Denied, identity.ReasonOf(err), "a token of another signer: %v", err)
}

func TestGcloudOnTheMetadataServerOfARealClusterIsTheAnnotatedAccount(t *testing.T) {
	world := newReal(t)
	pod := gcpsim.ClusterPod(world.kube, world.namespace, "build-job")
	pod.Provider, pod.ProjectID = testCluster, "acme-ci"
	at, err := world.server.StartMetadata(pod)
	require.NoError(t, err)
	r := gke(t, &world.cloud, set{"endpoints": set{"metadata": at}})
	r.Namespace = world.namespace
	token, err := start(t, r, identity.Secret{}).run("", "gcloud", "auth", "print-access-token")
	require.NoError(t, err)
	world.pulls(t, r, "oauth2accesstoken", token)
}
