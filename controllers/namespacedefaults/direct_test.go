// SPDX-License-Identifier: Apache-2.0

package namespacedefaults_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/namespacedefaults"
)

// try runs one reconciliation, with no other controller about.
func try(t *testing.T, c *namespacedefaults.Controller, provider string) error {
	t.Helper()
	_, err := reconcile.AsReconciler(c.Client, c).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: provider}})
	return err
}

var errKilled = errors.New("killed")

// mortal is a client that makes a number of writes, and dies at the next: before it, or after it with the answer lost.
func mortal(k client.WithWatch, writes int, lostAnswer bool) client.WithWatch {
	do := func(write func() error) error {
		writes--
		if writes >= 0 {
			return write()
		}
		if writes == -1 && lostAnswer {
			_ = write()
		}
		return errKilled
	}
	return interceptor.NewClient(k, interceptor.Funcs{
		Delete: func(ctx ctx, k client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return do(func() error { return k.Delete(ctx, o, opts...) })
		},
		Apply: func(ctx ctx, k client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			return do(func() error { return k.Apply(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx ctx, k client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return do(func() error { return k.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

func TestKilledAtAnyWriteItConvergesAndThenWritesNothing(t *testing.T) {
	for writes := range 4 {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("after %d writes, answer lost: %t", writes, lost), func(t *testing.T) {
				w := newWorld(t)
				p := w.newProvider(t, "", w.annotated("team", "ci-"))
				w.optIn(t, w.a)
				w.optIn(t, w.b)
				if err := try(t, w.controller(t, mortal(w.WithWatch, writes, lost)), p); err != nil {
					require.ErrorIs(t, err, errKilled)
				}
				require.NoError(t, try(t, w.controller(t, w.WithWatch), p))
				made := w.identitiesIn(t, w.a)["team."+p]
				require.NotEmpty(t, made.UID)
				require.Len(t, w.identitiesIn(t, w.b), 1)
				require.NoError(t, try(t, w.controller(t, mortal(w.WithWatch, 0, false)), p), "nothing is left to write")

				t.Log("the same with what goes")
				w.change(t, p, func(s *providerSpec) { s.NamespaceDefaults = nil })
				if err := try(t, w.controller(t, mortal(w.WithWatch, writes, lost)), p); err != nil {
					require.ErrorIs(t, err, errKilled)
				}
				require.NoError(t, try(t, w.controller(t, w.WithWatch), p))
				assert.Empty(t, w.identitiesIn(t, w.a))
				assert.Empty(t, w.identitiesIn(t, w.b))
			})
		}
	}
}

func TestWhatOthersChangeInAMappingsIdentityIsTakenBack(t *testing.T) {
	w := newWorld(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	c := w.controller(t, w.WithWatch)
	require.NoError(t, try(t, c, p))
	want := w.identitiesIn(t, w.a)["team."+p]
	for name, edit := range map[string]func(*v1alpha1.RunnerIdentity){
		"its principal": func(ri *v1alpha1.RunnerIdentity) { ri.Spec.Identity.AWS.RoleARN = role("admin") },
		"its label":     func(ri *v1alpha1.RunnerIdentity) { ri.Labels = nil },
	} {
		t.Run(name, func(t *testing.T) {
			edited := w.identitiesIn(t, w.a)["team."+p]
			edit(&edited)
			require.NoError(t, w.Update(t.Context(), &edited))
			require.NoError(t, try(t, c, p))
			after := w.identitiesIn(t, w.a)["team."+p]
			assert.Equal(t, want.Spec, after.Spec)
			assert.Equal(t, want.Labels, after.Labels)
		})
	}
}

func TestAnIdentityThatTheCacheHasNotSeenYetIsNotTakenOver(t *testing.T) {
	w := newWorld(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	theirs := &v1alpha1.RunnerIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.a, Name: "team." + p}, Spec: v1alpha1.RunnerIdentitySpec{IdentityProvider: "aws"},
	}
	require.NoError(t, w.Create(t.Context(), theirs))
	lagging := interceptor.NewClient(w.WithWatch, interceptor.Funcs{
		List: func(ctx ctx, k client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if _, isOne := l.(*v1alpha1.RunnerIdentityList); isOne {
				return nil
			}
			return k.List(ctx, l, opts...)
		},
	})
	c := w.controller(t, lagging)
	require.NoError(t, try(t, c, p))
	assert.Equal(t, theirs.ResourceVersion, w.identitiesIn(t, w.a)[theirs.Name].ResourceVersion)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False IdentityConflict")
}

func TestAProviderThatIsGoingGivesNothingMore(t *testing.T) {
	w := newWorld(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	held := w.provider(t, p)
	held.Finalizers = []string{"example.com/held"}
	require.NoError(t, w.Update(t.Context(), held))
	require.NoError(t, w.Delete(t.Context(), held))
	t.Cleanup(func() {
		_ = w.Patch(cleanup(t), held, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	})
	require.NoError(t, try(t, w.controller(t, w.WithWatch), p))
	assert.Empty(t, w.identitiesIn(t, w.a), "it would keep its owner from going")
}

func TestANamespaceThatIsGoingIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.b, Name: "held", Finalizers: []string{"example.com/held"}}}
	require.NoError(t, w.Create(t.Context(), held))
	w.optIn(t, w.b)
	require.NoError(t, w.cluster.DeleteNamespace(t.Context(), w.b))
	t.Cleanup(func() {
		_ = w.Patch(cleanup(t), held, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	})
	require.NoError(t, try(t, w.controller(t, w.WithWatch), p))
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: no namespace is selected")
}

func TestOnlyWatchedNamespacesGetIdentities(t *testing.T) {
	w := newWorld(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	w.optIn(t, w.b)
	c := w.controller(t, w.WithWatch)
	c.Watched = []string{w.b}
	require.NoError(t, try(t, c, p))
	assert.Empty(t, w.identitiesIn(t, w.a), "nobody would see to it")
	assert.Len(t, w.identitiesIn(t, w.b), 1)
}

func TestTheCommittedRoleIsEnough(t *testing.T) {
	w := newWorld(t)
	raw, err := os.ReadFile("../../config/rbac/role.yaml")
	require.NoError(t, err)
	role := &rbacv1.ClusterRole{}
	require.NoError(t, yaml.Unmarshal(raw, role))
	role.Name = w.a
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.a},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: w.a}},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: rbacv1.GroupName, Name: w.a},
	}
	for _, o := range []client.Object{role, binding} {
		require.NoError(t, w.Create(t.Context(), o))
		t.Cleanup(func() { _ = w.Delete(cleanup(t), o) })
	}
	config := rest.CopyConfig(w.cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: w.a}
	k, err := client.New(config, client.Options{Scheme: w.Scheme()})
	require.NoError(t, err)
	c := w.controller(t, k)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		assert.NoError(collect, try(t, c, p), "the API server has read the binding")
	}, soon, often)
	require.Len(t, w.identitiesIn(t, w.a), 1)
	w.optOut(t, w.a)
	require.NoError(t, try(t, c, p))
	assert.Empty(t, w.identitiesIn(t, w.a))
}

func TestMetricsCountNamespacesAndNameNone(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "-p", w.annotated("team", "ci-"), w.annotated("never", "deploy-"))
	w.optIn(t, w.b)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False MappingConflict", "1 of 2 ready")
	want := fmt.Sprintf(`# HELP runner_identity_namespace_defaults Namespaces that the mappings of a provider select, by whether they have their identity.
# TYPE runner_identity_namespace_defaults gauge
runner_identity_namespace_defaults{provider=%[1]q,ready="false"} 1
runner_identity_namespace_defaults{provider=%[1]q,ready="true"} 1
`, p)
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		assert.NoError(collect, testutil.GatherAndCompare(w.numbers, strings.NewReader(want)), "the cache has seen the status")
	}, soon, often)
	problems, err := testutil.GatherAndLint(w.numbers)
	require.NoError(t, err)
	assert.Empty(t, problems)
}
