// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func requirement(key string, operator metav1.LabelSelectorOperator, values ...string) metav1.LabelSelector {
	return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
}

func TestASelectorHasToBeAChoice(t *testing.T) {
	const name = "kubernetes.io/metadata.name"
	for what, tc := range map[string]struct {
		selector metav1.LabelSelector
		want     string
	}{
		"a label":                                       {metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}, ""},
		"any value of a label":                          {requirement("team", metav1.LabelSelectorOpExists), ""},
		"namespaces by their names":                     {requirement(name, metav1.LabelSelectorOpIn, "web", "app"), ""},
		"a label, and not another":                      {metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}, MatchExpressions: requirement("x", metav1.LabelSelectorOpDoesNotExist).MatchExpressions}, ""},
		"everything":                                    {metav1.LabelSelector{}, "matches namespaces that have no label"},
		"everything but some":                           {requirement("team", metav1.LabelSelectorOpNotIn, "a"), "matches namespaces that have no label"},
		"everything without a label":                    {requirement("team", metav1.LabelSelectorOpDoesNotExist), "matches namespaces that have no label"},
		"everything, by a label that all have":          {requirement(name, metav1.LabelSelectorOpExists), "matches namespaces that have no label"},
		"everything but some, by a label that all have": {requirement(name, metav1.LabelSelectorOpNotIn, "web"), "matches namespaces that have no label"},
		"something that is no selector":                 {requirement("team", "Near"), `"Near" is not a valid label selector operator`},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := optIn(tc.selector)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "selector: ")
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

// aged is a provider that is so many seconds old, with mappings that select every namespace labelled team=a.
func aged(name string, seconds int, mappings ...string) v1alpha1.IdentityProvider {
	p := v1alpha1.IdentityProvider{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(int64(1000-seconds), 0)),
	}}
	for _, m := range mappings {
		p.Spec.NamespaceDefaults = append(p.Spec.NamespaceDefaults, v1alpha1.NamespaceDefault{
			Name: m, Selector: metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}},
		})
	}
	return p
}

func TestWhoseMappingStands(t *testing.T) {
	going := aged("going", 90, "m")
	going.DeletionTimestamp = new(metav1.Now())
	other := aged("other", 90, "m")
	other.Spec.NamespaceDefaults[0].ServiceAccount = "deployer"
	for name, tc := range map[string]struct {
		providers []v1alpha1.IdentityProvider
		want      []string
	}{
		"the older provider's":                        {[]v1alpha1.IdentityProvider{aged("a", 10, "m"), aged("z", 20, "m")}, []string{"m.z"}},
		"of the same age, the first by name":          {[]v1alpha1.IdentityProvider{aged("z", 10, "m"), aged("a", 10, "m")}, []string{"m.a"}},
		"of one provider, the first in its list":      {[]v1alpha1.IdentityProvider{aged("a", 10, "z", "b")}, []string{"z.a"}},
		"that of a provider that is going does not":   {[]v1alpha1.IdentityProvider{going, aged("a", 10, "m")}, []string{"m.a"}},
		"both, if they are for accounts of two names": {[]v1alpha1.IdentityProvider{other, aged("a", 10, "m")}, []string{"m.other", "m.a"}},
	} {
		t.Run(name, func(t *testing.T) {
			namespaces := []metav1.PartialObjectMetadata{
				{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"team": "a"}}},
				{ObjectMeta: metav1.ObjectMeta{Name: "app", Labels: map[string]string{"team": "b"}}},
			}
			var stand []string
			for _, p := range places(claims(tc.providers), namespaces) {
				assert.Equal(t, "web", p.namespace)
				if p.stands() {
					stand = append(stand, p.key().Name)
				}
				assert.Equal(t, len(p.all) > 1, p.contested() != "")
			}
			assert.Equal(t, tc.want, stand)
		})
	}
}
