// SPDX-License-Identifier: Apache-2.0

package namespacedefaults_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func TestOfTwoProvidersThatClaimOneNamespaceTheOlderStandsAndBothSaySo(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	// The older has the later name, and creation times have whole seconds: without a second between them, the name decides.
	older := w.newProvider(t, "-z", w.annotated("team", "ci-"))
	require.Eventually(t, func() bool { return w.now(t).After(w.provider(t, older).CreationTimestamp.Time) }, soon, often)
	younger := w.newProvider(t, "-a", w.annotated("release", "deploy-"))
	w.optIn(t, w.a)

	for _, p := range []string{older, younger} {
		got := w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False MappingConflict")
		for _, part := range []string{w.a, `ServiceAccount "default"`, `mapping "team" of IdentityProvider "` + older + `"`, `mapping "release" of IdentityProvider "` + younger + `"`} {
			assert.Contains(t, got, part)
		}
		w.told(t, p, v1alpha1.ConditionReady, "False MappingConflict")
	}
	w.eventually(t, w.a, "default", roleKey, role("ci-"+w.a))
	assert.Len(t, w.identitiesIn(t, w.a), 1)
	assert.NotEmpty(t, w.events.all("Warning MappingConflict ApplyNamespaceDefaults"))

	t.Log("the older one lets go: the younger takes over, and nobody sees a conflict any more")
	w.change(t, older, func(s *providerSpec) { s.NamespaceDefaults = nil })
	w.eventually(t, w.a, "default", roleKey, role("deploy-"+w.a))
	w.told(t, older, v1alpha1.ConditionReady, "True")
	w.told(t, younger, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)

	t.Log("and takes it back, because it is older")
	w.change(t, older, func(s *providerSpec) { s.NamespaceDefaults = []v1alpha1.NamespaceDefault{w.annotated("team", "ci-")} })
	w.eventually(t, w.a, "default", roleKey, role("ci-"+w.a))
	w.told(t, younger, v1alpha1.ConditionNamespaceDefaultsReady, "False MappingConflict")
}

// now is the API server's time.
func (w *world) now(t *testing.T) metav1.Time {
	t.Helper()
	review := &v1alpha1.RunnerIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: w.b, GenerateName: "clock-"}, Spec: v1alpha1.RunnerIdentitySpec{IdentityProvider: "none"}}
	require.NoError(t, w.Create(t.Context(), review))
	require.NoError(t, w.Delete(t.Context(), review))
	return review.CreationTimestamp
}

func TestOfTwoMappingsOfOneProviderTheFirstInItsListStands(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("release", "ci-"), w.annotated("another", "deploy-"))
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False MappingConflict", w.a, `mapping "release"`, `mapping "another"`)
	w.eventually(t, w.a, "default", roleKey, role("ci-"+w.a))
	require.Eventually(t, func() bool {
		s := w.provider(t, p).Status.NamespaceDefaults
		return len(s) == 2 && s[0] == v1alpha1.NamespaceDefaultStatus{Name: "release", Namespaces: 1, Ready: 1} &&
			s[1] == v1alpha1.NamespaceDefaultStatus{Name: "another", Namespaces: 1}
	}, soon, often)
}

func TestAnAnnotationOfTheUserIsReportedAndLeft(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	theirs := role("theirs")
	w.edit(t, w.a, "default", map[string]string{roleKey: theirs})
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	w.optIn(t, w.b)
	got := w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False AccountConflict", "1 of 2 ready")
	for _, part := range []string{w.a, roleKey, theirs, role("ci-" + w.a)} {
		assert.Contains(t, got, part)
	}
	assert.NotContains(t, got, w.b, "the other namespace is well")
	assert.Equal(t, theirs, w.account(t, w.a, "default").Annotations[roleKey])

	t.Log("and left when the mapping goes")
	w.optOut(t, w.a)
	w.bare(t, w.a)
	assert.Equal(t, map[string]string{roleKey: theirs}, w.account(t, w.a, "default").Annotations)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.b)
}

// usersIdentity makes a RunnerIdentity as a user would, with a role that gets to pods without an annotation.
func (w *world) usersIdentity(t *testing.T, provider, namespace, roleARN string) *v1alpha1.RunnerIdentity {
	t.Helper()
	ri := &v1alpha1.RunnerIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "website"},
		Spec: v1alpha1.RunnerIdentitySpec{IdentityProvider: provider, Identity: v1alpha1.Identity{
			ServiceAccounts: v1alpha1.ServiceAccountNames{Runner: "default"}, AWS: &v1alpha1.AWSIdentity{RoleARN: roleARN},
		}},
	}
	require.NoError(t, w.Create(t.Context(), ri))
	require.Eventually(t, func() bool { return w.identitiesIn(t, namespace)["website"].Status.Principal == roleARN }, soon, often)
	return ri
}

func TestAnIdentityThatAUserGaveTheAccountBeforeStands(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	theirs := w.usersIdentity(t, p, w.a, role("deploy-"+w.a))
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False IdentityConflict", `RunnerIdentity "website"`, role("deploy-"+w.a), role("ci-"+w.a))
	assert.Len(t, w.identitiesIn(t, w.a), 1, "no fight")
	assert.Empty(t, w.account(t, w.a, "default").Annotations)

	t.Log("it goes, and the default comes")
	require.NoError(t, w.Delete(t.Context(), theirs))
	w.eventually(t, w.a, "default", roleKey, role("ci-"+w.a))
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)
}

func TestTheSameIdentityTwiceIsNoConflict(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.usersIdentity(t, p, w.a, role("ci-"+w.a))
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)
	assert.Len(t, w.identitiesIn(t, w.a), 2)
}

func TestAnIdentityThatAUserGivesTheAccountLaterIsToldOfAndTakesNothing(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)
	made := w.identitiesIn(t, w.a)["team."+p]
	require.Eventually(t, func() bool { return w.now(t).After(made.CreationTimestamp.Time) }, soon, often)
	w.usersIdentity(t, p, w.a, role("deploy-"+w.a))
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False IdentityConflict", "1 of 1 ready", `RunnerIdentity "website"`)
	assert.Equal(t, made.UID, w.identitiesIn(t, w.a)["team."+p].UID)
	assert.Equal(t, role("ci-"+w.a), w.account(t, w.a, "default").Annotations[roleKey])
}

func TestARunnerIdentityOfTheUserThatHasTheNameIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	theirs := &v1alpha1.RunnerIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.a, Name: "team." + p},
		Spec:       v1alpha1.RunnerIdentitySpec{IdentityProvider: p, Identity: v1alpha1.Identity{AWS: &v1alpha1.AWSIdentity{RoleARN: role("deploy-" + w.a)}}},
	}
	require.NoError(t, w.Create(t.Context(), theirs))
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False IdentityConflict", `RunnerIdentity "team.`+p+`" exists already`)
	after := w.identitiesIn(t, w.a)[theirs.Name]
	assert.Equal(t, theirs.UID, after.UID)
	assert.Equal(t, theirs.Spec.Identity.AWS, after.Spec.Identity.AWS)
	assert.Empty(t, after.OwnerReferences)
}
