// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

const ecrHost = "111122223333.dkr.ecr.eu-west-1.amazonaws.com"

// agentPlan is AWS's plan with all that an agent can have to do.
func agentPlan() v1alpha1.PodPlan {
	p := awsPodPlan()
	p.Agent = &v1alpha1.AgentPlan{
		Image:  "registry.acme.example/runner-identity:1",
		Config: `{"provider":"aws"}`,
		Tokens: []corev1.ServiceAccountTokenProjection{
			{Path: "agent/exchange", Audience: "sts.amazonaws.com", ExpirationSeconds: new(int64(3600))},
			{Path: "agent/job/0", Audience: "sts.amazonaws.com", ExpirationSeconds: new(int64(86400))},
		},
		Registries: []string{ecrHost},
		WorkVolume: true,
	}
	return p
}

// agentFor is agentPlan with less to do.
func agentFor(change func(*v1alpha1.AgentPlan)) *v1alpha1.PodPlan {
	p := agentPlan()
	change(p.Agent)
	return &p
}

func TestRunnerPodWithADockerDaemon(t *testing.T) {
	for name, tc := range map[string]struct {
		template string
		plan     *v1alpha1.PodPlan
	}{
		"dind without identity is as ARC lays it out":             {"minimal", nil},
		"dind with logins and files for jobs":                     {"minimal", new(agentPlan())},
		"dind with logins alone has no hook and no work volume":   {"minimal", agentFor(func(a *v1alpha1.AgentPlan) { a.WorkVolume = false })},
		"dind with files alone leaves the docker client's config": {"minimal", agentFor(func(a *v1alpha1.AgentPlan) { a.Registries = nil })},
		"dind with every docker field of the legacy API":          {"legacy", new(agentPlan())},
	} {
		t.Run(name, func(t *testing.T) {
			r := runnerOf(load[v1alpha1.RunnerTemplate](t, "dind/"+tc.template+".yaml"), tc.plan)
			before := toJSON(t, r)
			pod, err := podspec.RunnerPod(r)
			require.NoError(t, err)
			assert.Equal(t, before, toJSON(t, r), "the argument has changed")
			typed(t, pod)
			goldenPod(t, "dind/want/"+fileName(name), pod, nil)
		})
	}
}

func dindPod(t *testing.T, spec string, plan v1alpha1.PodPlan) corev1.Pod {
	t.Helper()
	pod, err := podspec.RunnerPod(runnerOf(parse[v1alpha1.RunnerTemplate](t, "{spec: {containerMode: dind, "+spec+"}}"), &plan))
	require.NoError(t, err)
	return typed(t, pod)
}

func initContainer(t *testing.T, pod corev1.Pod, name string) corev1.Container {
	t.Helper()
	i := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name })
	require.GreaterOrEqual(t, i, 0, "no init container is called %s", name)
	return pod.Spec.InitContainers[i]
}

// container-hooks 5: the paths of bind mounts are looked up in the daemon's filesystem, so that a work directory that is elsewhere
// there makes every job container start with an empty workspace.
func TestTheDaemonHasTheWorkDirectoryAtTheSamePathAndFromTheSameVolume(t *testing.T) {
	pod := dindPod(t, "workDir: /data/, volumes: [{name: fast}], volumeMounts: [{name: fast, mountPath: /data, subPath: a}]", agentPlan())
	want := corev1.VolumeMount{Name: "fast", MountPath: "/data", SubPath: "a"}
	for _, c := range []corev1.Container{
		runnerContainer(t, pod), initContainer(t, pod, podspec.DindContainer), initContainer(t, pod, podspec.AgentContainer),
	} {
		assert.Contains(t, c.VolumeMounts, want, c.Name)
	}
}

func TestNobodyButTheAgentHasItsTokensAndTheDaemonHasNothingOfTheIdentity(t *testing.T) {
	pod := dindPod(t, "sidecarContainers: [{name: proxy}], initContainers: [{name: fetch}]", agentPlan())
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		has := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "runner-identity-agent-token" })
		assert.Equal(t, c.Name == podspec.AgentContainer, has, c.Name)
	}
	daemon := initContainer(t, pod, podspec.DindContainer)
	for _, m := range daemon.VolumeMounts {
		assert.NotContains(t, m.Name, "runner-identity")
		assert.NotContains(t, m.Name, "iam-token")
	}
}

func TestAUserThatIsMeantForTheRunnerKeepsNeitherDaemonNorAgentFromStarting(t *testing.T) {
	pod := dindPod(t, "securityContext: {runAsUser: 1001, runAsNonRoot: true}", agentPlan())
	for _, name := range []string{podspec.DindContainer, podspec.AgentContainer} {
		security := initContainer(t, pod, name).SecurityContext
		assert.Equal(t, new(int64(0)), security.RunAsUser, name)
		assert.Equal(t, new(false), security.RunAsNonRoot, name)
	}
}

func TestTheOperatorsHookIsRunByOurs(t *testing.T) {
	pod := dindPod(t, "env: [{name: ACTIONS_RUNNER_HOOK_JOB_STARTED, value: /hooks/a.sh}], containers: [{name: runner, env: [{name: ACTIONS_RUNNER_HOOK_JOB_STARTED, value: /hooks/b.sh}]}]", agentPlan())
	assert.Contains(t, runnerContainer(t, pod).Env, corev1.EnvVar{Name: "ACTIONS_RUNNER_HOOK_JOB_STARTED", Value: podspec.JobStartedHook})
	assert.Equal(t, []string{"agent", "--work-dir=/home/runner/_work", "--then=/hooks/b.sh"}, initContainer(t, pod, podspec.AgentContainer).Args)
}

func TestWithoutFilesForJobsTheOperatorsHookStaysWhatItIs(t *testing.T) {
	pod := dindPod(t, "env: [{name: ACTIONS_RUNNER_HOOK_JOB_STARTED, value: /hooks/a.sh}]", *agentFor(func(a *v1alpha1.AgentPlan) { a.WorkVolume = false }))
	assert.Contains(t, runnerContainer(t, pod).Env, corev1.EnvVar{Name: "ACTIONS_RUNNER_HOOK_JOB_STARTED", Value: "/hooks/a.sh"})
	assert.Equal(t, []string{"agent"}, initContainer(t, pod, podspec.AgentContainer).Args)
}

func TestRunnerPodWithADockerDaemonRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ spec, want string }{
		"a docker config of the template's": {
			"env: [{name: DOCKER_CONFIG, value: /mine}]", `container "runner": env "DOCKER_CONFIG": is "/mine", wanted "/runner-identity/docker"`,
		},
		"a hook whose path is not known here": {
			"env: [{name: ACTIONS_RUNNER_HOOK_JOB_STARTED, value: $(HOOKS)/a.sh}]",
			`container "runner": env "ACTIONS_RUNNER_HOOK_JOB_STARTED": is "$(HOOKS)/a.sh", wanted "/github/home/.runner-identity/job-started.sh"`,
		},
		"a container with the agent's name": {
			"sidecarContainers: [{name: runner-identity-agent}]",
			`template.spec.sidecarContainers "runner-identity-agent": is the name of one of containerMode dind, wanted another name`,
		},
		"a sidecar with the daemon's name, as people had it who laid it out by hand": {
			"containers: [{name: dind}]", `template.spec.containers "dind": is the name of one of containerMode dind, wanted another name`,
		},
		"docker switched off": {
			"dockerEnabled: false", `template.spec.dockerEnabled: is false, wanted true, as containerMode dind says`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			template := parse[v1alpha1.RunnerTemplate](t, "{spec: {containerMode: dind, "+tc.spec+"}}")
			_, err := podspec.RunnerPod(runnerOf(template, new(agentPlan())))
			assert.EqualError(t, err, tc.want)
		})
	}
}

// A new release must not replace the runners of those who have no docker daemon.
func TestAnAgentChangesNeitherPodNorHashOfRunnersWithoutADockerDaemon(t *testing.T) {
	template := load[v1alpha1.RunnerTemplate](t, "runnerpod/legacy.yaml")
	with, without := agentPlan(), awsPodPlan()
	assert.Equal(t, podspec.TemplateHash(template, &without, defaultImage), podspec.TemplateHash(template, &with, defaultImage))
	a, err := podspec.RunnerPod(runnerOf(template, &with))
	require.NoError(t, err)
	b, err := podspec.RunnerPod(runnerOf(template, &without))
	require.NoError(t, err)
	assert.Equal(t, toJSON(t, b), toJSON(t, a))

	template.Spec.ContainerMode = v1alpha1.ContainerModeDind
	assert.NotEqual(t, podspec.TemplateHash(template, &without, defaultImage), podspec.TemplateHash(template, &with, defaultImage))
}
