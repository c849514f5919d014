// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// labelRunnerPod is the hook's own label on job pods: the name of the runner pod.
const labelRunnerPod = "runner-pod"

// HookTemplate is the file for ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE that gives the job's part of a plan to job and step pods. It is
// merged into the user's own template, if there is one, by the rules of Apply; a *ConflictError if that has values of its own.
//
// The plan's pull secrets join only a list that the user's template has already, or that no account carries. The hook lets a
// template's list replace the one that it makes of a workflow's container.credentials, and private images of users would no
// longer be pulled; without a list, Kubernetes takes the account's.
//
// The plan's init containers are left out: the hook lets a template's replace its own.
//
// On hooks that copy the work directory (0.8) the mounts of the job container appear in service containers too: use another
// carrier there if the workflows have services.
func HookTemplate(plan v1alpha1.PodPlan, user []byte) ([]byte, error) {
	merged, conflicts, err := mergeTemplate(plan, user)
	if err != nil {
		return nil, fmt.Errorf("hook template: %w", err)
	}
	if err := conflictError(conflicts); err != nil {
		return nil, fmt.Errorf("hook template: %w", err)
	}
	return yaml.Marshal(merged)
}

func mergeTemplate(plan v1alpha1.PodPlan, user []byte) (Object, []Conflict, error) {
	template, err := parseTemplate(user)
	if err != nil {
		return nil, nil, err
	}
	spec, err := object(template, "", "spec")
	if err != nil {
		return nil, nil, err
	}
	// A template's list replaces the hook's own, and with it what fills /__e, where the hook's node program is.
	plan.InitContainers = nil
	if spec["imagePullSecrets"] == nil && plan.ServiceAccountName != "" {
		plan.ImagePullSecrets = nil
	}
	named, err := account(spec)
	if err != nil {
		return nil, nil, err
	}
	merged, conflicts, err := apply(template, plan, HookJobContainer)
	return merged, append(explicitDefault(named, plan), conflicts...), err
}

// parseTemplate is the user's template with a container for the job, made if there is none.
func parseTemplate(user []byte) (Object, error) {
	var template Object
	if err := yaml.UnmarshalStrict(user, &template); err != nil {
		return nil, err
	}
	meta, err := object(template, "", "metadata")
	if err != nil {
		return nil, err
	}
	labels, err := object(meta, "metadata", "labels")
	if err != nil {
		return nil, err
	}
	if _, ok := labels[labelRunnerPod]; ok {
		return nil, errors.New("metadata.labels: " + labelRunnerPod + " is the hook's own, " +
			"by which job pods are found and cleaned up; remove it")
	}
	return withJobContainer(template)
}

func withJobContainer(template Object) (Object, error) {
	spec, err := object(template, "", "spec")
	if err != nil {
		return nil, err
	}
	containers, err := list(spec, "spec", "containers", "name")
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(containers, func(c Object) bool { return c["name"] == HookJobContainer }) {
		return template, nil
	}
	spec = appended(spec, "containers", []any{Object{"name": HookJobContainer}})
	return set(template, "spec", spec), nil
}

// explicitDefault is a conflict if a person wrote the account "default", which Apply takes for the API server's.
func explicitDefault(have string, plan v1alpha1.PodPlan) []Conflict {
	if have != defaultAccount || plan.ServiceAccountName == "" || plan.ServiceAccountName == defaultAccount {
		return nil
	}
	return []Conflict{accountConflict(have, plan)}
}
