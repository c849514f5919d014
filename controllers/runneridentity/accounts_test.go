// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func TestAnExistingAccountIsAdoptedAndGivenBackAsItWas(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newAccount(t, "mine", map[string]string{"team": "build"}, "their-registry")
	w.newIdentity(t, "ci", annotate, runAs("mine"))

	ri, _ := w.reconcile(t, c, "ci")
	require.Contains(t, condition(ri, v1alpha1.ConditionReady), "True")
	sa := w.account(t, "mine")
	assert.Empty(t, sa.OwnerReferences, "adopted, never owned")
	assert.Equal(t, role, sa.Annotations[roleKey])
	assert.Equal(t, "build", sa.Annotations["team"])
	assert.Equal(t, []string{"their-registry", "ci-registry"}, pullSecrets(sa))
	assert.Equal(t, []string{v1alpha1.Finalizer}, ri.Finalizers)
	assert.Equal(t, []v1alpha1.SecretName{{Name: "ci-registry"}, {Name: "their-registry"}}, ri.Status.Plan.Runner.ImagePullSecrets,
		"pods that are given our Secret keep the account's own")

	require.NoError(t, w.Delete(t.Context(), ri))
	gone, _ := w.reconcile(t, c, "ci")
	assert.Empty(t, gone.Name)
	sa = w.account(t, "mine")
	assert.Equal(t, map[string]string{"team": "build"}, sa.Annotations)
	assert.Empty(t, sa.Labels)
	assert.Equal(t, []string{"their-registry"}, pullSecrets(sa))
	for _, m := range sa.ManagedFields {
		assert.Equal(t, "kubectl-create", m.Manager, "nobody has to force anything because of somebody who is gone")
	}
}

func TestAnAccountAnnotatedByTheUserIsReportedAndNotOverwritten(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newAccount(t, "mine", map[string]string{roleKey: lost})
	w.newIdentity(t, "ci", annotate, runAs("mine"))

	ri, _ := w.reconcile(t, c, "ci")
	got := condition(ri, v1alpha1.ConditionServiceAccountReady)
	assert.Contains(t, got, "False AccountConflict")
	for _, part := range []string{"mine", roleKey, role, lost, "kubectl-create"} {
		assert.Contains(t, got, part)
	}
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "False AccountConflict")
	assert.Nil(t, ri.Status.Plan, "no half identity")
	assert.Equal(t, lost, w.account(t, "mine").Annotations[roleKey])
	assert.Len(t, w.events.take("Warning AccountConflict ApplyAccounts"), 1)
	w.reconcile(t, c, "ci")
	assert.Empty(t, w.events.take("AccountConflict"), "told once")
	_, result := w.reconcile(t, c, "ci")
	assert.LessOrEqual(t, result.RequeueAfter, time.Minute, "no watch tells when the user's is gone")
	assert.Positive(t, result.RequeueAfter)

	t.Log("the user takes his annotation off")
	sa := w.account(t, "mine")
	delete(sa.Annotations, roleKey)
	require.NoError(t, w.Update(t.Context(), sa))
	ri, _ = w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "True")
	assert.NotNil(t, ri.Status.Plan)
}

func TestTwoIdentitiesOfOneAccount(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newAccount(t, "shared", nil)
	w.newIdentity(t, "first", annotate, runAs("shared"))
	w.newIdentity(t, "second", annotate, runAs("shared"))
	w.newIdentity(t, "other", annotate, runAs("shared"), func(s *v1alpha1.RunnerIdentitySpec) { s.Identity.AWS.RoleARN = lost })

	first, _ := w.reconcile(t, c, "first")
	calls := w.cloud.Calls("ecr", "GetAuthorizationToken")
	second, _ := w.reconcile(t, c, "second")
	require.Contains(t, condition(first, v1alpha1.ConditionReady), "True")
	require.Contains(t, condition(second, v1alpha1.ConditionReady), "True")
	assert.Equal(t, calls, w.cloud.Calls("ecr", "GetAuthorizationToken"), "one call for both")
	assert.Equal(t, []string{"first-registry", "second-registry"}, pullSecrets(w.account(t, "shared")))

	other, _ := w.reconcile(t, c, "other")
	assert.Contains(t, condition(other, v1alpha1.ConditionServiceAccountReady), `set by "runner-identity/first"`)

	require.NoError(t, w.Delete(t.Context(), first))
	w.reconcile(t, c, "first")
	sa := w.account(t, "shared")
	assert.Equal(t, role, sa.Annotations[roleKey], "the second one's too")
	assert.Equal(t, []string{"second-registry"}, pullSecrets(sa))
}

func TestAnAccountDeletedByHandComesBack(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci")
	w.reconcile(t, c, "ci")
	require.NoError(t, w.Delete(t.Context(), w.account(t, "ci-runner")))
	w.reconcile(t, c, "ci")
	assert.Equal(t, []string{"ci-registry"}, pullSecrets(w.account(t, "ci-runner")))
}

func TestAnnotationsOfOthersCauseNoWork(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci")
	before, _ := w.reconcile(t, c, "ci")
	sa := w.account(t, "ci-runner")
	patch := client.MergeFrom(sa.DeepCopy())
	metav1.SetMetaDataAnnotation(&sa.ObjectMeta, "eks.amazonaws.com/token-expiration", "86400")
	sa.ImagePullSecrets = append(sa.ImagePullSecrets, corev1.LocalObjectReference{Name: "openshift-dockercfg"})
	require.NoError(t, w.Patch(t.Context(), sa, patch, client.FieldOwner("webhook")))

	after, _ := w.reconcile(t, c, "ci")
	again := w.account(t, "ci-runner")
	assert.Equal(t, sa.ResourceVersion, again.ResourceVersion, "nothing written")
	assert.Contains(t, condition(after, v1alpha1.ConditionReady), "True")
	assert.NotEqual(t, before.Status.PlanHash, after.Status.PlanHash, "pods get the new pull secret too")
	last, _ := w.reconcile(t, c, "ci")
	assert.Equal(t, after.ResourceVersion, last.ResourceVersion, "and that is the end of it")
}

func TestAccountsNoLongerWantedAreLetGo(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newAccount(t, "mine", nil)
	w.newIdentity(t, "ci", annotate)
	w.reconcile(t, c, "ci")
	owned := w.account(t, "ci-runner")
	require.Equal(t, role, owned.Annotations[roleKey])

	t.Log("from an own account to the user's")
	ri := w.identity(t, "ci")
	ri.Spec.Identity.ServiceAccounts.Runner = "mine"
	require.NoError(t, w.Update(t.Context(), ri))
	w.reconcile(t, c, "ci")
	owned = w.account(t, "ci-runner")
	assert.Empty(t, owned.Annotations)
	assert.Empty(t, pullSecrets(owned))
	assert.True(t, metav1.IsControlledBy(owned, ri), "pods may run as it: it goes with its owner")
	assert.Equal(t, role, w.account(t, "mine").Annotations[roleKey])

	t.Log("and back")
	ri = w.identity(t, "ci")
	ri.Spec.Identity.ServiceAccounts.Runner = ""
	require.NoError(t, w.Update(t.Context(), ri))
	ri, _ = w.reconcile(t, c, "ci")
	assert.Empty(t, w.account(t, "mine").Annotations)
	assert.Empty(t, w.account(t, "mine").Labels)
	assert.Equal(t, role, w.account(t, "ci-runner").Annotations[roleKey])
	assert.Empty(t, ri.Finalizers)
}

func TestAnAccountMadeAtTheSameMomentIsNotTakenOver(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci")
	c.Client = interceptor.NewClient(w.WithWatch, interceptor.Funcs{
		Apply: func(ctx ctx, k client.WithWatch, o applyConfiguration, opts ...client.ApplyOption) error {
			theirs := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "ci-runner", Labels: map[string]string{"team": "build"}}}
			if err := client.IgnoreAlreadyExists(k.Create(ctx, theirs, client.FieldOwner("kubectl-create"))); err != nil {
				return err
			}
			return k.Apply(ctx, o, opts...)
		},
	})
	_, err := w.try(t, c, "ci")
	require.ErrorContains(t, err, "made by somebody else")
	assert.Empty(t, w.account(t, "ci-runner").OwnerReferences)
	ri, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "True")
	assert.Empty(t, w.account(t, "ci-runner").OwnerReferences, "adopted")
}

func TestASecretOfTheUserIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "ci-registry"}, Data: map[string][]byte{"key": []byte("value")}}
	require.NoError(t, w.Create(t.Context(), theirs))
	w.newIdentity(t, "ci")
	ri, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "False SecretConflict")
	assert.Equal(t, theirs.ResourceVersion, w.secret(t, "ci-registry").ResourceVersion)
}

func TestAUserWhoAppliesOtherPullSecretsAfterwardsHasNoConflict(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	apply := func(pullSecret string) error {
		u := &unstructured.Unstructured{Object: map[string]any{"imagePullSecrets": []any{map[string]any{"name": pullSecret}}}}
		u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
		u.SetNamespace(w.namespace)
		u.SetName("mine")
		u.SetLabels(map[string]string{"team": "build"})
		return w.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("gitops"))
	}
	require.NoError(t, apply("theirs"))
	ri := w.newIdentity(t, "ci", runAs("mine"))
	w.reconcile(t, c, "ci")
	require.Equal(t, []string{"theirs", "ci-registry"}, pullSecrets(w.account(t, "mine")))
	require.NoError(t, w.Delete(t.Context(), ri))
	w.reconcile(t, c, "ci")
	require.NoError(t, apply("another"))
	assert.Equal(t, []string{"another"}, pullSecrets(w.account(t, "mine")))
}

func TestTheDefaultAccountIsNeverMadeAndSoNeverOwned(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci", annotate, runAs("default"))
	key := w.key("default")
	c.Reader = interceptor.NewClient(w.WithWatch, interceptor.Funcs{
		Get: func(ctx ctx, k client.WithWatch, have client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, isAccount := o.(*corev1.ServiceAccount); isAccount && have == key {
				return apierrors.NewNotFound(corev1.Resource("serviceaccounts"), have.Name)
			}
			return k.Get(ctx, have, o, opts...)
		},
	})
	ri, result := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionServiceAccountReady), "Unknown Progressing")
	assert.Nil(t, ri.Status.Plan, "no half identity")
	assert.LessOrEqual(t, result.RequeueAfter, time.Second)
	assert.Empty(t, w.account(t, "default").Annotations)

	ri, _ = w.reconcile(t, w.controller(t), "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "True")
	assert.Empty(t, w.account(t, "default").OwnerReferences)
}
