// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runneridentity"
)

// restricted is a client with the rights of the committed role, and no others.
func (w *world) restricted(t *testing.T) client.WithWatch {
	t.Helper()
	raw, err := os.ReadFile("../../config/rbac/role.yaml")
	require.NoError(t, err)
	role := &rbacv1.ClusterRole{}
	require.NoError(t, yaml.Unmarshal(raw, role))
	role.Name = w.namespace
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "controller"}},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: rbacv1.GroupName, Name: w.namespace},
	}
	for _, o := range []client.Object{role, binding} {
		require.NoError(t, w.Create(t.Context(), o))
		t.Cleanup(func() { _ = w.Delete(cleanup(t), o) })
	}
	config := rest.CopyConfig(w.cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "controller"}
	k, err := client.NewWithWatch(config, client.Options{Scheme: w.Scheme()})
	require.NoError(t, err)
	return k
}

func TestTheCommittedRoleIsEnough(t *testing.T) {
	w := newWorld(t)
	k := w.restricted(t)
	c := w.controller(t)
	c.Client, c.Reader, w.tokens.next = k, k, runneridentity.APITokens{Client: k}
	w.newAccount(t, "mine", nil, "theirs")
	w.newIdentity(t, "ci", annotate, runAs("mine"), func(s *v1alpha1.RunnerIdentitySpec) {
		s.Identity.Targets = []v1alpha1.IdentityTarget{v1alpha1.TargetRunner, v1alpha1.TargetJob}
	})
	require.EventuallyWithT(t, func(t2 *assert.CollectT) {
		_, err := w.try(t, c, "ci")
		assert.NoError(t2, err, "the API server has read the binding")
	}, soon, often)
	ri := w.identity(t, "ci")
	require.Contains(t, condition(ri, v1alpha1.ConditionReady), "True")

	t.Log("the Secret goes")
	ri.Spec.Identity.AWS = &v1alpha1.AWSIdentity{Mode: v1alpha1.AWSPodIdentity}
	require.NoError(t, w.Update(t.Context(), ri))
	ri, _ = w.reconcile(t, c, "ci")

	require.NoError(t, w.Delete(t.Context(), ri))
	w.reconcile(t, c, "ci")
	assert.Empty(t, w.identity(t, "ci").Name)
}
