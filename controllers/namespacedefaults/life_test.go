// SPDX-License-Identifier: Apache-2.0

package namespacedefaults_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func TestADefaultIsSwitchedOnChangedAndTakenBackAndNothingOfTheUsersIsLost(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	name := "team." + p
	before := w.edit(t, w.a, "default", map[string]string{"owner": "build"}, "their-registry")

	t.Log("a namespace that nobody has opted in has nothing")
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: no namespace is selected")
	require.Empty(t, w.identitiesIn(t, w.a))

	t.Log("switched on")
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)
	w.told(t, p, v1alpha1.ConditionReady, "True Ready")
	sa := w.account(t, w.a, "default")
	assert.Equal(t, map[string]string{"owner": "build", roleKey: role("ci-" + w.a), "eks.amazonaws.com/audience": audience}, onlyKnown(sa.Annotations))
	assert.Equal(t, []string{"their-registry", name + "-registry"}, pullSecrets(sa))
	assert.Empty(t, sa.OwnerReferences, "adopted, never owned")
	assert.Equal(t, before.UID, sa.UID)
	w.requireLoggedIn(t, w.a, name+"-registry")
	ri := w.identitiesIn(t, w.a)[name]
	assert.Equal(t, "team", ri.Labels[v1alpha1.LabelNamespaceDefault])
	assert.True(t, metav1.IsControlledBy(&ri, w.provider(t, p)))
	assert.Empty(t, w.identitiesIn(t, w.b))
	assert.Equal(t, []v1alpha1.NamespaceDefaultStatus{{Name: "team", Namespaces: 1, Ready: 1}}, w.provider(t, p).Status.NamespaceDefaults)

	t.Log("no account is made that nobody asked for")
	var accounts corev1.ServiceAccountList
	require.NoError(t, w.List(t.Context(), &accounts, client.InNamespace(w.a)))
	assert.Len(t, accounts.Items, 1)

	t.Log("changed")
	w.change(t, p, func(s *providerSpec) {
		s.NamespaceDefaults[0].Identity.Settings["roleARN"] = role("deploy-${namespace}")
	})
	w.eventually(t, w.a, "default", roleKey, role("deploy-"+w.a))
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready")

	t.Log("the label is taken off")
	w.optOut(t, w.a)
	w.bare(t, w.a)
	after := w.account(t, w.a, "default")
	assert.Equal(t, before.UID, after.UID)
	assert.Equal(t, map[string]string{"owner": "build"}, after.Annotations)
	assert.Equal(t, before.Labels, after.Labels)
	assert.Equal(t, []string{"their-registry"}, pullSecrets(after))
	assert.Equal(t, before.Secrets, after.Secrets)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: no namespace is selected")
	require.Eventually(t, func() bool {
		err := w.Get(t.Context(), client.ObjectKey{Namespace: w.a, Name: name + "-registry"}, &corev1.Secret{})
		return apierrors.IsNotFound(err)
	}, collected, often, "the login goes too")
	for _, m := range after.ManagedFields {
		assert.NotContains(t, m.Manager, v1alpha1.FieldOwner, "nobody has to force anything because of somebody who is gone")
	}
}

// onlyKnown leaves out what the provider adds beside the role: this test is about whose values stay.
func onlyKnown(annotations map[string]string) map[string]string {
	known := map[string]string{"eks.amazonaws.com/audience": audience}
	for _, key := range []string{"owner", roleKey} {
		known[key] = annotations[key]
	}
	return known
}

func TestEachNamespaceHasItsOwnIdentity(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	w.optIn(t, w.b)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 2 ready: ", w.a, w.b)
	assert.Equal(t, role("ci-"+w.a), w.account(t, w.a, "default").Annotations[roleKey])
	assert.Equal(t, role("ci-"+w.b), w.account(t, w.b, "default").Annotations[roleKey])

	t.Log("the provider goes, and all that its mappings gave")
	require.NoError(t, w.Delete(t.Context(), w.provider(t, p)))
	for _, ns := range []string{w.a, w.b} {
		w.bare(t, ns)
		sa := w.account(t, ns, "default")
		assert.Empty(t, sa.Annotations)
		assert.Empty(t, sa.Labels)
		assert.Empty(t, pullSecrets(sa))
	}
}

func TestAMappingThatIsTakenOutOfTheListTakesItsIdentitiesAlong(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	deployer := w.annotated("deploy", "deploy-")
	deployer.ServiceAccount = "deployer"
	p := w.newProvider(t, "", w.annotated("team", "ci-"), deployer)
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 2 ready: "+w.a)
	assert.Equal(t, role("deploy-"+w.a), w.account(t, w.a, "deployer").Annotations[roleKey], "an account that was not there is made")
	assert.Equal(t, role("ci-"+w.a), w.account(t, w.a, "default").Annotations[roleKey])

	w.change(t, p, func(s *providerSpec) { s.NamespaceDefaults = s.NamespaceDefaults[1:] })
	w.eventually(t, w.a, "default", roleKey, "")
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)
	assert.Equal(t, role("deploy-"+w.a), w.account(t, w.a, "deployer").Annotations[roleKey])

	w.change(t, p, func(s *providerSpec) { s.NamespaceDefaults = nil })
	w.bare(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True NotNeeded")
}

// actions-runner-controller#2992, #2754, #3745, #3963: job pods of the container hook name no account.
func TestJobPodsThatNameNoAccountHaveTheNamespacesIdentityAndItsRegistryLogin(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready")

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.a, Name: "runner-workflow"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "job", Image: host + "/job"}, {Name: "redis", Image: host + "/redis"}}},
	}
	require.NoError(t, w.Create(t.Context(), pod))
	assert.Equal(t, "default", pod.Spec.ServiceAccountName)
	assert.Equal(t, []corev1.LocalObjectReference{{Name: "team." + p + "-registry"}}, pod.Spec.ImagePullSecrets, "service images are pulled with it too")
	assert.Equal(t, role("ci-"+w.a), w.account(t, w.a, pod.Spec.ServiceAccountName).Annotations[roleKey])
	require.Len(t, pod.Spec.Containers, 2)
	assert.Empty(t, pod.Spec.Containers[0].Env, "pods are not changed")
}

func TestADefaultAccountOnGKEIsAnnotatedAndGivenBack(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	m := w.annotated("team", "")
	m.Identity.Settings = map[string]string{"mode": "Metadata", "serviceAccount": "${namespace}@acme-ci.iam.gserviceaccount.com", "imagePull": "true"}
	p := w.create(t, w.a, providerSpec{Plugin: "gcp", NamespaceDefaults: []v1alpha1.NamespaceDefault{m}})
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)
	assert.Equal(t, map[string]string{
		accountKey: w.a + "@acme-ci.iam.gserviceaccount.com", "iam.gke.io/enable-wi-image-pull": "true",
	}, w.account(t, w.a, "default").Annotations)
	w.optOut(t, w.a)
	w.bare(t, w.a)
	assert.Empty(t, w.account(t, w.a, "default").Annotations)
}

func TestADeletedDefaultAccountComesBackAndIsBoundAgain(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	w.eventually(t, w.a, "default", roleKey, role("ci-"+w.a))
	before := w.account(t, w.a, "default")
	require.NoError(t, w.Delete(t.Context(), before))
	require.Eventually(t, func() bool {
		sa := &corev1.ServiceAccount{}
		err := w.Get(t.Context(), client.ObjectKeyFromObject(before), sa)
		return err == nil && sa.UID != before.UID && sa.Annotations[roleKey] == role("ci-"+w.a) && len(sa.ImagePullSecrets) == 1
	}, soon, often)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready")
	assert.Empty(t, w.account(t, w.a, "default").OwnerReferences, "it is Kubernetes' again: it does not go with the mapping")
}

func TestANamespaceThatIsBornWithTheLabelKeepsItsDefaultAccount(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	m := w.annotated("team", "")
	m.Identity.Settings["roleARN"] = role("ci-" + w.a)
	p := w.newProvider(t, "", m)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.a + "-born", Labels: map[string]string{optedIn: w.a}}}
	require.NoError(t, w.Create(t.Context(), ns))
	t.Cleanup(func() { _ = w.Delete(cleanup(t), ns) })
	require.Eventually(t, func() bool {
		sa := &corev1.ServiceAccount{}
		err := w.Get(t.Context(), client.ObjectKey{Namespace: ns.Name, Name: "default"}, sa)
		return err == nil && sa.Annotations[roleKey] != ""
	}, soon, often)
	before := w.account(t, ns.Name, "default")
	assert.Empty(t, before.OwnerReferences)
	w.optOut(t, ns.Name)
	w.bare(t, ns.Name)
	assert.Equal(t, before.UID, w.account(t, ns.Name, "default").UID)
}
