// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m, "../../config/crd") }

func client(t *testing.T, c *cluster.Cluster) kubernetes.Interface {
	t.Helper()
	k, err := kubernetes.NewForConfig(c.Config)
	require.NoError(t, err)
	return k
}

func TestTokensAreSignedForTheAudienceThatWasAskedFor(t *testing.T) {
	c := cluster.Shared(t)
	ns := c.Namespace(t)

	answer, err := client(t, c).CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"sts.amazonaws.com"}, ExpirationSeconds: new(int64(3600))},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	claims := verified(t, c, answer.Status.Token)
	assert.Equal(t, cluster.DefaultIssuer, claims.Issuer)
	assert.Equal(t, []string{"sts.amazonaws.com"}, claims.Audience)
	assert.Equal(t, "system:serviceaccount:"+ns+":default", claims.Subject)
}

func TestJWKSURLIsReachedByTheHTTPClient(t *testing.T) {
	c := cluster.Shared(t)
	h, err := c.HTTPClient()
	require.NoError(t, err)

	resp, err := h.Get(c.JWKSURL)
	require.NoError(t, err)
	defer resp.Body.Close()

	var set struct{ Keys []map[string]string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&set))
	require.Len(t, set.Keys, 1)
	assert.Equal(t, "RS256", set.Keys[0]["alg"])
}

func TestANamespaceTakesPodsAtOnce(t *testing.T) {
	c := cluster.Shared(t)
	ns := c.Namespace(t)

	pod, err := client(t, c).CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "runner"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "runner", Image: "runner"}}},
	}, metav1.CreateOptions{})

	require.NoError(t, err)
	assert.Equal(t, "default", pod.Spec.ServiceAccountName, "the ServiceAccount admission plug-in is at work")
}

func TestRBACIsEnforced(t *testing.T) {
	c := cluster.Shared(t)
	ns := c.Namespace(t)
	config := *c.Config
	config.Impersonate.UserName = "system:serviceaccount:" + ns + ":default"
	k, err := kubernetes.NewForConfig(&config)
	require.NoError(t, err)

	_, err = k.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "got %v", err)

	_, err = client(t, c).RbacV1().RoleBindings(ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "admin"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: ns}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := k.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{})
		return err == nil
	}, 10*time.Second, 50*time.Millisecond)
}

func TestOwnedObjectsAreCollected(t *testing.T) {
	c := cluster.Shared(t)
	if !c.Controllers {
		t.Skip("no kube-controller-manager among the programs")
	}
	ns, k := c.Namespace(t), client(t, c)
	owner, err := k.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	owned := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}
	_, err = k.CoreV1().Secrets(ns).Create(t.Context(), owned, metav1.CreateOptions{})
	require.NoError(t, err)

	require.NoError(t, k.CoreV1().ConfigMaps(ns).Delete(t.Context(), "owner", metav1.DeleteOptions{}))

	require.Eventually(t, func() bool {
		_, err := k.CoreV1().Secrets(ns).Get(t.Context(), "owned", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, 60*time.Second, 100*time.Millisecond)
}

func TestMutatingAdmissionPolicyIsServed(t *testing.T) {
	c := cluster.Shared(t)

	_, err := client(t, c).AdmissionregistrationV1().MutatingAdmissionPolicies().List(t.Context(), metav1.ListOptions{})

	require.NoError(t, err)
}

func TestKubectlComesWithTheCluster(t *testing.T) {
	c := cluster.Shared(t)

	out, err := c.Kubectl(t.Context(), "api-resources", "--api-group=runner-identity.dev", "-o", "name")
	require.NoError(t, err)
	assert.Contains(t, out, "runnerdeployments.runner-identity.dev")

	_, err = c.Kubectl(t.Context(), "get", "pod", "absent")
	assert.ErrorContains(t, err, `pods "absent" not found`, "what kubectl said is in the error")
}

func TestInstallingTheSameDefinitionsAgainIsNoError(t *testing.T) {
	c := cluster.Shared(t)

	require.NoError(t, c.InstallCRDs(t.Context(), "../../config/crd"))
	assert.ErrorContains(t, c.InstallCRDs(t.Context(), t.TempDir()), "no CustomResourceDefinition in")
}

func TestTwoClustersRunSideBySideAndLeaveNothing(t *testing.T) {
	shared := cluster.Shared(t)
	dir := filepath.Join(t.TempDir(), "a-directory-with-a-name-that-is-much-too-long-for-the-path-of-a-unix-socket-which-has-108-bytes")
	c, err := cluster.Start(t.Context(), cluster.Options{Dir: dir, Issuer: "https://issuer.test"})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Stop(), "stopping again does nothing") })
	assert.NotEqual(t, shared.Config.Host, c.Config.Host)

	_, err = cluster.Start(t.Context(), cluster.Options{Dir: dir})
	require.ErrorContains(t, err, "is in use by another process")

	require.NoError(t, c.Stop())
	_, err = c.JWKS(t.Context())
	require.Error(t, err, "it is gone")
	assert.FileExists(t, filepath.Join(dir, "kube-apiserver.log"), "a directory that the user named is kept")
	_, err = shared.JWKS(t.Context())
	assert.NoError(t, err, "the other one is not touched")
}

func TestAnInterruptedStartStopsWhatItHasStarted(t *testing.T) {
	cluster.Shared(t) // programs are there
	dir := t.TempDir()
	ctx, cancel := contextCancelledBy(t, filepath.Join(dir, "kube-apiserver.log"))
	defer cancel()

	_, err := cluster.Start(ctx, cluster.Options{Dir: dir})

	require.ErrorContains(t, err, "context canceled")
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close()
	assert.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), "the directory is free again")
}
