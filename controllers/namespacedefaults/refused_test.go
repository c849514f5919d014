// SPDX-License-Identifier: Apache-2.0

package namespacedefaults_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func TestASelectorThatIsNoChoiceSelectsNothing(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	everything := w.annotated("everything", "ci-")
	everything.Selector = metav1.LabelSelector{}
	others := w.annotated("others", "ci-")
	others.Selector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a"}}}}
	p := w.newProvider(t, "", everything, others)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False InvalidSpec", `mapping "everything": selector:`, `mapping "others": selector: "team notin (a)" matches namespaces that have no label of their own`)
	w.told(t, p, v1alpha1.ConditionReady, "False InvalidSpec")
	assert.Empty(t, w.identitiesIn(t, w.a))

	t.Log("a mapping that is made so later loses what it had")
	w.change(t, p, func(s *providerSpec) {
		s.NamespaceDefaults = []v1alpha1.NamespaceDefault{w.annotated("everything", "ci-")}
	})
	w.optIn(t, w.a)
	w.eventually(t, w.a, "default", roleKey, role("ci-"+w.a))
	w.change(t, p, func(s *providerSpec) { s.NamespaceDefaults[0].Selector = metav1.LabelSelector{} })
	w.bare(t, w.a)
	assert.Empty(t, w.account(t, w.a, "default").Annotations)
}

func TestNamespacesOfKubernetesAndOfTheControllerAreNeverSelected(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "runner-identity-system"}}
	require.NoError(t, client.IgnoreAlreadyExists(w.Create(t.Context(), own)))
	protected := []string{"kube-system", "kube-public", "kube-node-lease", "runner-identity-system"}
	for _, ns := range protected {
		require.Eventually(t, func() bool {
			found := &corev1.Namespace{}
			if err := w.Get(t.Context(), client.ObjectKey{Name: ns}, found); err != nil {
				return false
			}
			metav1.SetMetaDataLabel(&found.ObjectMeta, optedIn, w.a)
			return w.Update(t.Context(), found) == nil
		}, soon, often)
		t.Cleanup(func() {
			found := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
			_ = w.Patch(cleanup(t), found, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+optedIn+`":null}}}`)))
		})
	}
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)
	for _, ns := range protected {
		assert.Empty(t, w.identitiesIn(t, ns))
	}
}

func TestTheAdminsGuardRailsHoldForNamespaceDefaultsToo(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.change(t, p, func(s *providerSpec) { s.AllowedPrincipals = []string{role("ci-" + w.a)} })
	w.optIn(t, w.a)
	w.optIn(t, w.b)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False NotAllowed", "1 of 2 ready", w.b, role("ci-"+w.b)+`" is not allowed`)
	assert.Empty(t, w.account(t, w.b, "default").Annotations)
	assert.Equal(t, role("ci-"+w.a), w.account(t, w.a, "default").Annotations[roleKey])

	w.change(t, p, func(s *providerSpec) {
		s.AllowedPrincipals = nil
		s.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.b}}
	})
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False NotAllowed", w.a, "do not match allowedNamespaces")
	w.eventually(t, w.a, "default", roleKey, "")
	w.eventually(t, w.b, "default", roleKey, role("ci-"+w.b))
}

func TestSettingsThatAreWrongAreReportedAndWhatWasGoodStays(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "ci-"))
	w.optIn(t, w.a)
	w.eventually(t, w.a, "default", roleKey, role("ci-"+w.a))
	for name, tc := range map[string]struct{ key, value, want string }{
		"a setting that there is not":        {"roleArn2", "x", `settings.roleArn2: "x" is not a value of a setting of that name`},
		"another placeholder":                {"roleARN", role("ci-${ns}"), "has a placeholder other than ${namespace}"},
		"a value that the API does not take": {"roleARN", "ci-${namespace}", "roleARN: 'ci-" + w.a + "' is not the ARN of an IAM role"},
	} {
		t.Run(name, func(t *testing.T) {
			good := w.annotated("team", "ci-")
			w.change(t, p, func(s *providerSpec) { s.NamespaceDefaults[0].Identity.Settings[tc.key] = tc.value })
			w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False InvalidIdentity", `mapping "team", namespace "`+w.a+`"`, tc.want)
			assert.Equal(t, role("ci-"+w.a), w.account(t, w.a, "default").Annotations[roleKey])
			w.change(t, p, func(s *providerSpec) { s.NamespaceDefaults[0] = good })
			w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready")
		})
	}
}

func TestWhatTheCloudRefusesIsToldWithItsNamespace(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	p := w.newProvider(t, "", w.annotated("team", "nobody-"))
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "False IdentityDenied", "0 of 1 ready", w.a, "nobody-"+w.a)
	assert.Equal(t, role("nobody-"+w.a), w.account(t, w.a, "default").Annotations[roleKey], "annotated, and not yet taken by the cloud")
}

func TestAProviderWithoutMappingsSaysWhetherItCanBeUsed(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	good := w.newProvider(t, "-good")
	w.told(t, good, v1alpha1.ConditionReady, "True Ready: plug-in aws is in this build")
	w.told(t, good, v1alpha1.ConditionNamespaceDefaultsReady, "True NotNeeded")
	absent := w.create(t, w.a+"-absent", providerSpec{Plugin: "vault"})
	w.told(t, absent, v1alpha1.ConditionReady, `False ProviderNotFound: plugin: identity provider "vault" is not in this build, which has: aws, gcp`)
	wrong := w.create(t, w.a+"-wrong", providerSpec{Plugin: "aws", AWS: &v1alpha1.AWSDefaults{Endpoints: v1alpha1.AWSEndpoints{STS: "nowhere"}}})
	w.told(t, wrong, v1alpha1.ConditionReady, "False InvalidIdentity: aws.endpoints.sts")
	require.NotEmpty(t, w.events.all("Warning ProviderNotFound CheckProvider"))
}

func TestAMappingThatCanOnlyGiveRegistryLoginsSaysSo(t *testing.T) {
	w := newWorld(t)
	w.start(t)
	m := w.annotated("team", "ci-")
	m.Identity.Settings["binding"] = "Inject"
	p := w.newProvider(t, "", m)
	w.optIn(t, w.a)
	w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a+"; registry logins alone are given by team")
	assert.Empty(t, w.account(t, w.a, "default").Annotations)
	w.requireLoggedIn(t, w.a, "team."+p+"-registry")

	w.change(t, p, func(s *providerSpec) { s.NamespaceDefaults[0].Identity.Settings["binding"] = "Annotate" })
	got := w.told(t, p, v1alpha1.ConditionNamespaceDefaultsReady, "True Ready: 1 ready: "+w.a)
	assert.NotContains(t, got, "alone")
}
