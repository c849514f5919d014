// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

const hashLength = 10

// TemplateHash is a hash of all that a runner pod is made from, ten hexadecimal characters. Neither the order of maps nor that of
// variables matters. Of the identity only the plan counts: a change that gives the same plan replaces no runner, and a template
// without identity keeps its hash whatever providers there are.
func TemplateHash(t v1alpha1.RunnerTemplate, plan *v1alpha1.PodPlan, defaultImage string) string {
	t = *t.DeepCopy()
	t.Spec.IdentityProvider, t.Spec.Identity = "", nil
	for _, env := range templateEnv(&t.Spec) {
		*env = sorted(*env)
	}
	if runnerImage(t.Spec, defaultImage) != defaultImage {
		defaultImage = ""
	}
	if plan = planFor(t.Spec, plan); plan != nil {
		plan = new(canonical(*plan))
	}
	return hashOf(struct {
		Template     v1alpha1.RunnerTemplate `json:"template"`
		Plan         *v1alpha1.PodPlan       `json:"plan,omitempty"`
		DefaultImage string                  `json:"defaultImage,omitempty"`
	}{t, plan, defaultImage})
}

// PlanHash is a hash of a plan, ten hexadecimal characters, independent of the order of maps and variables.
func PlanHash(p v1alpha1.PlanStatus) string {
	for _, part := range []**v1alpha1.PodPlan{&p.Runner, &p.Job} {
		if *part != nil {
			*part = new(canonical(**part))
		}
	}
	return hashOf(p)
}

// canonical orders variables by name: a plan's values are literal, so that their order changes nothing in a pod.
func canonical(p v1alpha1.PodPlan) v1alpha1.PodPlan {
	p.Env = slices.SortedStableFunc(slices.Values(p.Env), func(a, b v1alpha1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	return p
}

// templateEnv are all lists of variables in a template.
func templateEnv(s *v1alpha1.RunnerSpec) []*[]corev1.EnvVar {
	lists := []*[]corev1.EnvVar{&s.Env, &s.DockerEnv}
	for _, containers := range [][]corev1.Container{s.Containers, s.InitContainers, s.SidecarContainers} {
		for i := range containers {
			lists = append(lists, &containers[i].Env)
		}
	}
	return lists
}

// sorted orders variables by name, unless one may refer to another: only what stands above it is expanded in $(NAME). Of two
// variables of one name the last one wins, so the sort is stable.
func sorted(env []corev1.EnvVar) []corev1.EnvVar {
	if slices.ContainsFunc(env, func(e corev1.EnvVar) bool { return strings.Contains(e.Value, "$(") }) {
		return env
	}
	return slices.SortedStableFunc(slices.Values(env), func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
}

// hashOf hashes a value's JSON, in which maps are ordered by key.
func hashOf(v any) string {
	// Only channels, functions and cyclic values cannot be marshalled; API types hold none.
	b, _ := json.Marshal(v)
	return shortHash(string(b))
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:hashLength]
}
