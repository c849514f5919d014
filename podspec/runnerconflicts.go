// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	// envJITConfig is where GitHub's runner looks for its JIT config.
	envJITConfig = "ACTIONS_RUNNER_INPUT_JITCONFIG"
	// envUserAgent is what GitHub's runner adds to its user agent.
	envUserAgent = "GITHUB_ACTIONS_RUNNER_EXTRA_USER_AGENT"
)

// conflicts are values of the template that stand where a runner pod must have ours.
func (r Runner) conflicts() []Conflict {
	found := slices.Concat(
		taken("template.metadata.labels", r.Template.Metadata.Labels, r.labels()),
		taken("template.metadata.annotations", r.Template.Metadata.Annotations, r.annotations()),
	)
	_, runner := splitRunner(r.Template.Spec.Containers)
	isJIT := func(e corev1.EnvVar) bool { return e.Name == envJITConfig }
	if slices.ContainsFunc(slices.Concat(r.Template.Spec.Env, runner.Env), isJIT) {
		// Its value is a secret and is not shown.
		found = append(found, Conflict{
			Container: RunnerContainer, Field: "env", Key: envJITConfig,
			Want: "the key " + SecretKeyJITConfig + " of the runner's own Secret", Have: "set by the template",
		})
	}
	if enabled := r.Template.Spec.DockerEnabled; r.dind() && enabled != nil && !*enabled {
		found = append(found, Conflict{Field: "template.spec.dockerEnabled", Want: "true, as containerMode dind says", Have: "false"})
	}
	if r.Plan != nil {
		found = append(found, explicitDefault(r.Template.Spec.ServiceAccountName, *r.Plan)...)
	}
	return found
}

// taken are the keys of ours for which a template has other values.
func taken(field string, have, ours map[string]string) []Conflict {
	var found []Conflict
	for _, k := range slices.Sorted(maps.Keys(ours)) {
		if value, ok := have[k]; ok && value != ours[k] {
			found = append(found, Conflict{Field: field, Key: k, Want: shown(ours[k]), Have: shown(value)})
		}
	}
	return found
}

// repeatedNames are containers of one name, which only the API server would refuse, with a message about indices.
func (r Runner) repeatedNames() []Conflict {
	var found []Conflict
	seen := r.takenNames()
	t := r.Template.Spec
	for _, l := range []struct {
		field      string
		containers []corev1.Container
	}{
		{"containers", withoutRunner(t.Containers)},
		{"initContainers", r.ownInit()},
		{"sidecarContainers", t.SidecarContainers},
	} {
		for _, c := range l.containers {
			if first, ok := seen[c.Name]; ok {
				found = append(found, Conflict{
					Field: "template.spec." + l.field, Key: c.Name, Want: "another name", Have: "the name of one of " + first,
				})
			}
			seen[c.Name] = l.field
		}
	}
	return found
}

// takenNames are the containers that the pod has beside the template's, and where each belongs.
func (r Runner) takenNames() map[string]string {
	taken := map[string]string{RunnerContainer: "containers"}
	if r.dind() {
		taken[DindContainer], taken[externalsContainer] = "containerMode dind", "containerMode dind"
	}
	if r.agent() != nil {
		taken[AgentContainer] = "containerMode dind"
	}
	return taken
}
