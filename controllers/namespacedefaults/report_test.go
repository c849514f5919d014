// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// reported is the condition of a provider with one mapping, after so many namespaces each of which stands as given.
func reported(t *testing.T, all ...settled) (*v1alpha1.IdentityProvider, string) {
	t.Helper()
	p := aged("a", 1, "m")
	r := report{provider: &p}
	for i, s := range all {
		r.add(place{claim: claim{provider: &p, mapping: p.Spec.NamespaceDefaults[0]}, namespace: fmt.Sprintf("ns-%02d", i)}, s)
	}
	r.write(nil)
	c := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionNamespaceDefaultsReady)
	require.NotNil(t, c)
	return &p, fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func many(n int, s settled) []settled {
	all := make([]settled, n)
	for i := range all {
		all[i] = s
	}
	return all
}

func TestTheConditionNamesTheFirstFewAndCountsTheOthers(t *testing.T) {
	well := settled{keep: true, ready: true}
	for name, tc := range map[string]struct {
		all  []settled
		want string
	}{
		"none":          {nil, "True Ready: no namespace is selected"},
		"five are well": {many(5, well), "True Ready: 5 ready: ns-00, ns-01, ns-02, ns-03, ns-04"},
		"seven are well": {
			many(7, well), "True Ready: 7 ready: ns-00, ns-01, ns-02, ns-03, ns-04, and 2 more",
		},
		"the same trouble in many is told once": {
			append(many(7, wrong("NotAllowed", "no")), well),
			`False NotAllowed: 1 of 8 ready; mapping "m", 7 namespaces (ns-00, ns-01, ns-02, ns-03, ns-04, and 2 more): no`,
		},
		"what takes time is no failure": {
			[]settled{well, waiting("in a moment")}, `Unknown Progressing: 1 of 2 ready; mapping "m", namespace "ns-01": in a moment`,
		},
		"a disagreement goes before what is to mend, and that before what takes time": {
			[]settled{waiting("in a moment"), wrong("NotAllowed", "no"), conflict(v1alpha1.ReasonMappingConflict, "two")},
			`False MappingConflict: 0 of 3 ready; mapping "m", namespace "ns-02": two; mapping "m", namespace "ns-01": no; mapping "m", namespace "ns-00": in a moment`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := reported(t, tc.all...)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestAThousandNamespacesFitTheStatus(t *testing.T) {
	all := make([]settled, 1000)
	for i := range all {
		all[i] = wrong("IdentityDenied", fmt.Sprintf("role %d: ", i)+strings.Repeat("long ", 50))
	}
	p, got := reported(t, all...)
	assert.LessOrEqual(t, len(got), 1100)
	assert.Equal(t, []v1alpha1.NamespaceDefaultStatus{{Name: "m", Namespaces: 1000}}, p.Status.NamespaceDefaults)
	assert.Equal(t, metav1.ConditionFalse, meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionReady).Status)
}

func TestALoginThatIsRenewedWakesNobody(t *testing.T) {
	before := &v1alpha1.RunnerIdentity{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	v1alpha1.SetCondition(&before.Status.Conditions, 1, v1alpha1.ConditionReady, metav1.ConditionTrue, "Ready", "well")
	renewed := before.DeepCopy()
	renewed.Status.LoginExpiresAt = new(metav1.Now())
	assert.Equal(t, seen(before), seen(renewed))
	for name, change := range map[string]func(*v1alpha1.RunnerIdentity){
		"another spec":      func(ri *v1alpha1.RunnerIdentity) { ri.Generation++ },
		"another principal": func(ri *v1alpha1.RunnerIdentity) { ri.Status.Principal = "x" },
		"its end":           func(ri *v1alpha1.RunnerIdentity) { ri.DeletionTimestamp = new(metav1.Now()) },
		"a label gone":      func(ri *v1alpha1.RunnerIdentity) { ri.Labels = map[string]string{v1alpha1.LabelNamespaceDefault: "x"} },
		"another verdict":   func(ri *v1alpha1.RunnerIdentity) { ri.Status.Conditions[0].Reason = "AccountConflict" },
		"other words":       func(ri *v1alpha1.RunnerIdentity) { ri.Status.Conditions[0].Message = "x" },
		"a newer verdict":   func(ri *v1alpha1.RunnerIdentity) { ri.Status.Conditions[0].ObservedGeneration++ },
	} {
		t.Run(name, func(t *testing.T) {
			after := before.DeepCopy()
			change(after)
			assert.NotEqual(t, seen(before), seen(after))
		})
	}
}

func TestAVerdictOnAnEarlierSpecIsNone(t *testing.T) {
	ri := &v1alpha1.RunnerIdentity{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	assert.Equal(t, v1alpha1.ReasonProgressing, judge(ri).reason, "none yet")
	v1alpha1.SetCondition(&ri.Status.Conditions, 1, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady, "well")
	assert.True(t, judge(ri).ready)
	ri.Generation++
	assert.False(t, judge(ri).ready)
	assert.Equal(t, v1alpha1.ReasonProgressing, judge(ri).reason)
	ri.Status.Conditions[0].ObservedGeneration, ri.DeletionTimestamp = 2, new(metav1.Now())
	assert.False(t, judge(ri).ready, "it is going")
}
