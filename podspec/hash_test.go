// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/internal/golden"
	"github.com/runner-identity/runner-identity/podspec"
)

func TestTemplateHash(t *testing.T) {
	const base = `{metadata: {labels: {a: "1"}}, spec: {organization: acme, env: [{name: A, value: a}, {name: B, value: b}]}}`
	for name, tc := range map[string]struct {
		template string
		same     bool
	}{
		"the same":                                      {base, true},
		"variables in another order":                    {`{metadata: {labels: {a: "1"}}, spec: {organization: acme, env: [{name: B, value: b}, {name: A, value: a}]}}`, true},
		"another provider with the same plan":           {`{metadata: {labels: {a: "1"}}, spec: {organization: acme, identityProvider: aws, identity: {delivery: Admission}, env: [{name: A, value: a}, {name: B, value: b}]}}`, true},
		"another value":                                 {`{metadata: {labels: {a: "1"}}, spec: {organization: acme, env: [{name: A, value: other}, {name: B, value: b}]}}`, false},
		"another label":                                 {`{metadata: {labels: {a: "2"}}, spec: {organization: acme, env: [{name: A, value: a}, {name: B, value: b}]}}`, false},
		"another organisation":                          {`{metadata: {labels: {a: "1"}}, spec: {organization: other, env: [{name: A, value: a}, {name: B, value: b}]}}`, false},
		"variables in the container instead of the top": {`{metadata: {labels: {a: "1"}}, spec: {organization: acme, containers: [{name: runner, env: [{name: A, value: a}, {name: B, value: b}]}]}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			want := podspec.TemplateHash(parse[v1alpha1.RunnerTemplate](t, base), nil, defaultImage)
			got := podspec.TemplateHash(parse[v1alpha1.RunnerTemplate](t, tc.template), nil, defaultImage)
			assert.Equal(t, tc.same, want == got)
		})
	}
}

func TestTheOrderOfVariablesCountsWhereOneMayReferToAnother(t *testing.T) {
	a := parse[v1alpha1.RunnerTemplate](t, `{spec: {env: [{name: A, value: a}, {name: B, value: $(A)}]}}`)
	b := parse[v1alpha1.RunnerTemplate](t, `{spec: {env: [{name: B, value: $(A)}, {name: A, value: a}]}}`)
	assert.NotEqual(t, podspec.TemplateHash(a, nil, ""), podspec.TemplateHash(b, nil, ""))
}

func TestTheLastOfTwoVariablesOfOneNameCounts(t *testing.T) {
	a := parse[v1alpha1.RunnerTemplate](t, `{spec: {env: [{name: A, value: "1"}, {name: A, value: "2"}]}}`)
	b := parse[v1alpha1.RunnerTemplate](t, `{spec: {env: [{name: A, value: "2"}, {name: A, value: "1"}]}}`)
	assert.NotEqual(t, podspec.TemplateHash(a, nil, ""), podspec.TemplateHash(b, nil, ""))
}

func TestTheDefaultImageCountsOnlyWhereItIsUsed(t *testing.T) {
	for template, used := range map[string]bool{
		`{spec: {}}`: true,
		`{spec: {containers: [{name: proxy, image: a}]}}`:  true,
		`{spec: {image: a}}`:                               false,
		`{spec: {containers: [{name: runner, image: a}]}}`: false,
	} {
		parsed := parse[v1alpha1.RunnerTemplate](t, template)
		differ := podspec.TemplateHash(parsed, nil, "one:1") != podspec.TemplateHash(parsed, nil, "two:2")
		assert.Equal(t, used, differ, template)
	}
}

func TestHashesOfPlans(t *testing.T) {
	template := load[v1alpha1.RunnerTemplate](t, "runnerpod/legacy.yaml")
	plan, reversed, other := awsPodPlan(), awsPodPlan(), awsPodPlan()
	slices.Reverse(reversed.Env)
	other.Env[0].Value = "arn:aws:iam::111122223333:role/other"
	hash := func(p *v1alpha1.PodPlan) []string {
		return []string{
			podspec.TemplateHash(template, p, defaultImage),
			podspec.PlanHash(v1alpha1.PlanStatus{Runner: p}), podspec.PlanHash(v1alpha1.PlanStatus{Job: p}),
		}
	}
	assert.Equal(t, hash(&plan), hash(&reversed), "the order of a plan's variables")
	for i := range hash(&plan) {
		assert.NotEqual(t, hash(&plan)[i], hash(&other)[i])
		assert.NotEqual(t, hash(&plan)[i], hash(nil)[i])
	}
	assert.NotEqual(t, hash(&plan)[1], hash(&plan)[2], "whose plan it is")
}

func TestHashesAreLabelValues(t *testing.T) {
	for _, hash := range []string{podspec.TemplateHash(v1alpha1.RunnerTemplate{}, nil, ""), podspec.PlanHash(v1alpha1.PlanStatus{})} {
		assert.Len(t, hash, 10)
		assert.Empty(t, validation.IsValidLabelValue(hash))
	}
}

func TestHashingLeavesItsArgumentsAlone(t *testing.T) {
	template, plan := load[v1alpha1.RunnerTemplate](t, "runnerpod/second.yaml"), awsPodPlan()
	slices.Reverse(template.Spec.Env)
	status := v1alpha1.PlanStatus{Runner: &plan, Job: &plan}
	before := toJSON(t, []any{template, status})
	podspec.TemplateHash(template, &plan, defaultImage)
	podspec.PlanHash(status)
	assert.Equal(t, before, toJSON(t, []any{template, status}))
}

// A changed hash replaces every runner of every user at once. Change these on purpose only, and say so in the release notes.
func TestHashesStayWhatTheyAreFromReleaseToRelease(t *testing.T) {
	template, plan := load[v1alpha1.RunnerTemplate](t, "runnerpod/legacy.yaml"), awsPodPlan()
	golden.Check(t, "hashes.txt", podspec.TemplateHash(template, nil, defaultImage)+" template without identity\n"+
		podspec.TemplateHash(template, &plan, defaultImage)+" template with AWS\n"+
		podspec.PlanHash(v1alpha1.PlanStatus{Runner: &plan})+" plan of AWS\n")
}
