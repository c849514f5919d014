// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

const (
	agentVolume      = InitContainerPrefix + "agent"
	agentTokenVolume = InitContainerPrefix + "agent-token"
	jobVolume        = InitContainerPrefix + "job"

	// agentProgram is the program that runs in the agent's container. A build with other providers has another name, in a place of its
	// own: a probe that never finds it would keep every runner from starting.
	agentProgram = "/proc/1/exe"

	envDockerConfig = "DOCKER_CONFIG"
	envJobStarted   = "ACTIONS_RUNNER_HOOK_JOB_STARTED"
)

// planFor is a plan without what pods of a template have no use for: only where there is a docker daemon there is an agent. Hashes
// of all other pods know nothing of it.
func planFor(t v1alpha1.RunnerSpec, plan *v1alpha1.PodPlan) *v1alpha1.PodPlan {
	if plan == nil || plan.Agent == nil || t.ContainerMode == v1alpha1.ContainerModeDind {
		return plan
	}
	without := *plan
	without.Agent = nil
	return &without
}

// agent is the agent's part of the plan, nil if the pod has no agent.
func (r Runner) agent() *v1alpha1.AgentPlan {
	if r.Plan == nil || !r.dind() {
		return nil
	}
	return r.Plan.Agent
}

// withAgent adds to a plan what the runner's container and the pod need for the agent. By Apply's rules a template that has something
// of its own there is a conflict.
func withAgent(p v1alpha1.PodPlan) v1alpha1.PodPlan {
	a := p.Agent
	if a == nil {
		return p
	}
	p.Volumes = append(slices.Clone(p.Volumes), emptyDir(agentVolume))
	p.VolumeMounts, p.Env = slices.Clone(p.VolumeMounts), slices.Clone(p.Env)
	if len(a.Registries) > 0 {
		p.Env = append(p.Env, v1alpha1.EnvVar{Name: envDockerConfig, Value: DockerConfigDir})
		p.VolumeMounts = append(p.VolumeMounts, v1alpha1.VolumeMount{Name: agentVolume, MountPath: AgentDir})
	}
	if a.WorkVolume {
		p.Env = append(p.Env, v1alpha1.EnvVar{Name: envJobStarted, Value: JobStartedHook})
		p.Volumes = append(p.Volumes, emptyDir(jobVolume))
		p.VolumeMounts = append(p.VolumeMounts, v1alpha1.VolumeMount{Name: jobVolume, MountPath: JobDir, ReadOnly: true})
	}
	if len(a.Tokens) > 0 {
		p.Volumes = append(p.Volumes, agentTokens(a.Tokens))
	}
	return p
}

func emptyDir(name string) v1alpha1.Volume {
	return v1alpha1.Volume{Name: name, EmptyDir: &corev1.EmptyDirVolumeSource{}}
}

func agentTokens(tokens []corev1.ServiceAccountTokenProjection) v1alpha1.Volume {
	projected := &corev1.ProjectedVolumeSource{}
	for _, t := range tokens {
		projected.Sources = append(projected.Sources, corev1.VolumeProjection{ServiceAccountToken: &t})
	}
	return v1alpha1.Volume{Name: agentTokenVolume, Projected: projected}
}

// withoutHook takes the operator's own job-started hook from the runner: the agent's runs it. One that is not known here stays, as a
// conflict.
func (r Runner) withoutHook(env []corev1.EnvVar) []corev1.EnvVar {
	if a := r.agent(); a == nil || !a.WorkVolume {
		return env
	}
	return slices.DeleteFunc(env, isKnownHook)
}

// isKnownHook reports whether a variable is a job-started hook whose path is spelled out.
func isKnownHook(e corev1.EnvVar) bool {
	return e.Name == envJobStarted && e.ValueFrom == nil && !strings.Contains(e.Value, "$(")
}

// hook is the operator's own job-started hook, empty if the template sets none.
func (r Runner) hook() string {
	_, c := splitRunner(r.Template.Spec.Containers)
	var hook string
	for _, e := range mergeBy(envName, r.Template.Spec.Env, c.Env) {
		if isKnownHook(e) {
			hook = e.Value
		}
	}
	return hook
}

// agentContainer is a native sidecar, so that the docker client is logged in before the runner starts. Its probe asks the agent
// itself, which says yes 30 seconds after its start at the latest, whatever a cloud does.
//
// It is root: files of the job's user, whichever that is, have to be read, replaced and left to their owner. Of root's rights it
// keeps those three, and it follows no link out of the directories that it shares.
func (r Runner) agentContainer(a v1alpha1.AgentPlan) corev1.Container {
	return corev1.Container{
		Name:          AgentContainer,
		Image:         a.Image,
		Args:          r.agentArgs(a),
		Env:           []corev1.EnvVar{{Name: EnvAgentConfig, Value: literal(a.Config)}},
		RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
		StartupProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{agentProgram, "agent", "ready"}}},
			PeriodSeconds: 1, TimeoutSeconds: 10, FailureThreshold: 120,
		},
		VolumeMounts: r.agentMounts(a),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
		SecurityContext: &corev1.SecurityContext{
			RunAsUser: new(int64(0)), RunAsNonRoot: new(false),
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{
				Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"CHOWN", "DAC_OVERRIDE", "FOWNER"},
			},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
}

func (r Runner) agentArgs(a v1alpha1.AgentPlan) []string {
	args := []string{"agent"}
	if !a.WorkVolume {
		return args
	}
	args = append(args, "--work-dir="+literal(workDir(r.Template.Spec)))
	if hook := r.hook(); hook != "" {
		args = append(args, "--then="+hook)
	}
	return args
}

func (r Runner) agentMounts(a v1alpha1.AgentPlan) []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{{Name: agentVolume, MountPath: AgentDir}}
	if a.WorkVolume {
		mounts = append(mounts, r.workMount(), corev1.VolumeMount{Name: jobVolume, MountPath: JobDir})
	}
	if len(a.Tokens) > 0 {
		mounts = append(mounts, corev1.VolumeMount{Name: agentTokenVolume, MountPath: IdentityDir, ReadOnly: true})
	}
	return mounts
}
