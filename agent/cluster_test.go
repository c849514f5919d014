// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/identity/aws"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

func TestMain(m *testing.M) { cluster.Main(m) }

// serviceAccount makes the runner's ServiceAccount, and returns how the kubelet would get its tokens.
func serviceAccount(t *testing.T, c *cluster.Cluster) (namespace string, sign func(string, time.Time) string) {
	t.Helper()
	kube, err := kubernetes.NewForConfig(c.Config)
	require.NoError(t, err)
	namespace = c.Namespace(t)
	accounts := kube.CoreV1().ServiceAccounts(namespace)
	_, err = accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "website-runner"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return namespace, func(audience string, _ time.Time) string {
		got, err := accounts.CreateToken(t.Context(), "website-runner", &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: new(int64(7200))},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		return got.Status.Token
	}
}

func TestTokensOfARealAPIServerLogTheDockerClientInToECR(t *testing.T) {
	c := cluster.Shared(t)
	w := bareWorld(t, clocktesting.NewFakeClock(time.Now().Add(time.Second)))
	w.namespace, w.sign = serviceAccount(t, c)
	issuer, err := simaws.ClusterIssuer(t.Context(), c.Config, c.Issuer, "sts.amazonaws.com")
	require.NoError(t, err)
	w.onAWS(issuer, w.namespace)
	w.provider = aws.New(aws.WithClock(w.clock))
	w.resolve(w.awsIdentity())
	a := w.agent()
	w.startReady(a)
	require.NoError(t, w.taken())
	w.renewed(a)
	require.NoError(t, w.taken())
}

func TestTokensOfARealAPIServerLogTheDockerClientInToArtifactRegistry(t *testing.T) {
	c := cluster.Shared(t)
	namespace, sign := serviceAccount(t, c)
	found, err := sim.FindCluster(t.Context(), c.Config, c.Issuer)
	require.NoError(t, err)
	w, server := onGoogle(t, found, namespace, sign)
	w.startReady(w.agent())
	sent := w.client(googleHost)
	pulls(t, server, sent.Username, sent.Password)
}
