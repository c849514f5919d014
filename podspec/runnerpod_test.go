// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

const defaultImage = "ghcr.io/actions/actions-runner:2.336.0"

func runnerOf(template v1alpha1.RunnerTemplate, plan *v1alpha1.PodPlan) podspec.Runner {
	return podspec.Runner{
		Namespace: "ci", Name: "website-x7k2p", Deployment: "website", DefaultImage: defaultImage,
		Template: template, Plan: plan, TemplateHash: podspec.TemplateHash(template, plan, defaultImage),
		Owner: &metav1.OwnerReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "RunnerDeployment", Name: "website",
			UID: "c0ffee00-0000-4000-8000-000000000000", Controller: new(true), BlockOwnerDeletion: new(true),
		},
	}
}

// typed is a pod as the API server would read it; a field that it does not know is an error.
func typed(t testing.TB, pod podspec.Object) corev1.Pod {
	t.Helper()
	var p corev1.Pod
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(pod, &p, true))
	return p
}

// runnerPod makes the pod of a template in YAML, with AWS's plan unless plan is false.
func runnerPod(t testing.TB, template string, plan bool) corev1.Pod {
	t.Helper()
	r := runnerOf(parse[v1alpha1.RunnerTemplate](t, template), nil)
	if plan {
		r.Plan = new(awsPodPlan())
	}
	pod, err := podspec.RunnerPod(r)
	require.NoError(t, err)
	return typed(t, pod)
}

func runnerContainer(t testing.TB, pod corev1.Pod) corev1.Container {
	t.Helper()
	for _, c := range pod.Spec.Containers {
		if c.Name == podspec.RunnerContainer {
			return c
		}
	}
	require.Fail(t, "no container is called runner")
	return corev1.Container{}
}

func TestRunnerPod(t *testing.T) {
	chain := podspec.Of(chainPlan(), identity.Runner, "website-runner", []string{"website-registry"})
	for name, tc := range map[string]struct {
		template string
		plan     *v1alpha1.PodPlan
	}{
		"a minimal template with AWS":                                  {"minimal", new(awsPodPlan())},
		"a minimal template with a chain of roles":                     {"minimal", &chain},
		"a minimal template without identity":                          {"minimal", nil},
		"a manifest of the legacy API":                                 {"legacy", new(awsPodPlan())},
		"a runner second in the list wins over the template's top":     {"second", new(awsPodPlan())},
		"a runner whose jobs alone have the identity gets its account": {"minimal", &v1alpha1.PodPlan{ServiceAccountName: "website-runner"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := runnerOf(load[v1alpha1.RunnerTemplate](t, "runnerpod/"+tc.template+".yaml"), tc.plan)
			before := toJSON(t, r)
			pod, err := podspec.RunnerPod(r)
			require.NoError(t, err)
			assert.Equal(t, before, toJSON(t, r), "the argument has changed")
			typed(t, pod)
			goldenPod(t, "runnerpod/want/"+fileName(name), pod, nil)
		})
	}
}

func TestRunnerPodRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ template, want string }{
		"a JIT config of the template's, without showing it": {
			`{spec: {env: [{name: ACTIONS_RUNNER_INPUT_JITCONFIG, value: geheim}]}}`,
			`container "runner": env "ACTIONS_RUNNER_INPUT_JITCONFIG": is set by the template, wanted the key jitconfig of the runner's own Secret`,
		},
		"a JIT config in the runner's container": {
			`{spec: {containers: [{name: proxy}, {name: runner, env: [{name: ACTIONS_RUNNER_INPUT_JITCONFIG, value: geheim}]}]}}`,
			`container "runner": env "ACTIONS_RUNNER_INPUT_JITCONFIG": is set by the template, wanted the key jitconfig of the runner's own Secret`,
		},
		"labels by which runners are found": {
			`{metadata: {labels: {runner-identity.dev/runner-deployment: other}}, spec: {}}`,
			`template.metadata.labels "runner-identity.dev/runner-deployment": is "other", wanted "website"`,
		},
		"another plan's hash": {
			`{metadata: {annotations: {runner-identity.dev/plan-hash: other}}, spec: {}}`,
			`template.metadata.annotations "runner-identity.dev/plan-hash": is "other", wanted "` +
				podspec.PlanHash(v1alpha1.PlanStatus{Runner: new(awsPodPlan())}) + `"`,
		},
		"another account": {
			`{spec: {serviceAccountName: theirs}}`,
			`spec.serviceAccountName: is "theirs", wanted "website-runner"`,
		},
		"the account default, if the template says so": {
			`{spec: {serviceAccountName: default}}`,
			`spec.serviceAccountName: is "default", wanted "website-runner"`,
		},
		"another role": {
			`{spec: {env: [{name: AWS_ROLE_ARN, value: other}]}}`,
			`container "runner": env "AWS_ROLE_ARN": is "other", wanted "arn:aws:iam::111122223333:role/ci"`,
		},
		"a sidecar called runner": {
			`{spec: {sidecarContainers: [{name: runner}]}}`,
			`template.spec.sidecarContainers "runner": is the name of one of containers, wanted another name`,
		},
		"two runners": {
			`{spec: {containers: [{name: runner}, {name: runner}]}}`,
			`template.spec.containers "runner": is the name of one of containers, wanted another name`,
		},
		"a sidecar with the name of an init container": {
			`{spec: {initContainers: [{name: a}], sidecarContainers: [{name: a}]}}`,
			`template.spec.sidecarContainers "a": is the name of one of initContainers, wanted another name`,
		},
		"Windows": {
			`{spec: {nodeSelector: {kubernetes.io/os: windows}}}`,
			`spec.nodeSelector "kubernetes.io/os": is "windows", wanted "linux": Windows is not supported`,
		},
		"all of it in one go": {
			`{spec: {env: [{name: AWS_REGION, value: other}], sidecarContainers: [{name: a}, {name: a}]}}`,
			`template.spec.sidecarContainers "a": is the name of one of sidecarContainers, wanted another name; ` +
				`container "runner": env "AWS_REGION": is "other", wanted "eu-west-1"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := podspec.RunnerPod(runnerOf(parse[v1alpha1.RunnerTemplate](t, tc.template), new(awsPodPlan())))
			assert.Nil(t, pod)
			var conflict *podspec.ConflictError
			require.ErrorAs(t, err, &conflict)
			assert.EqualError(t, err, tc.want)
		})
	}
}

func TestRunnerPodRefusesContainerModeKubernetes(t *testing.T) {
	mode := v1alpha1.ContainerModeKubernetes
	_, err := podspec.RunnerPod(runnerOf(v1alpha1.RunnerTemplate{Spec: v1alpha1.RunnerSpec{ContainerMode: mode}}, nil))
	var unsupported *podspec.ContainerModeError
	require.ErrorAs(t, err, &unsupported)
	assert.Equal(t, mode, unsupported.Mode)
	assert.ErrorContains(t, err, `containerMode: "kubernetes" is not supported`)
}

func TestAPlanMustNotSetTheJITConfig(t *testing.T) {
	plan := v1alpha1.PodPlan{Env: []v1alpha1.EnvVar{{Name: "ACTIONS_RUNNER_INPUT_JITCONFIG", Value: "x"}}}
	_, err := podspec.RunnerPod(runnerOf(v1alpha1.RunnerTemplate{}, &plan))
	assert.ErrorContains(t, err, `env "ACTIONS_RUNNER_INPUT_JITCONFIG": is set by valueFrom`)
}

func TestTheKubernetesTokenIsMountedOnlyIfAskedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		template string
		plan     bool
		want     *bool
	}{
		"no identity, no account: no token":                   {`{spec: {}}`, false, new(false)},
		"an identity: no token":                               {`{spec: {}}`, true, new(false)},
		"an identity and its account: no token":               {`{spec: {serviceAccountName: website-runner}}`, true, new(false)},
		"an account of the user's alone: as the account says": {`{spec: {serviceAccountName: deployer}}`, false, nil},
		"the user says yes":                                   {`{spec: {automountServiceAccountToken: true}}`, true, new(true)},
		"the user says no":                                    {`{spec: {serviceAccountName: deployer, automountServiceAccountToken: false}}`, false, new(false)},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, runnerPod(t, tc.template, tc.plan).Spec.AutomountServiceAccountToken)
		})
	}
}

func TestTheWorkVolume(t *testing.T) {
	for name, tc := range map[string]struct {
		template string
		volumes  []string
		mount    corev1.VolumeMount
	}{
		"is at the runner's default": {
			`{spec: {}}`, []string{"work"}, corev1.VolumeMount{Name: "work", MountPath: "/home/runner/_work"},
		},
		"is where workDir says": {
			`{spec: {workDir: /data}}`, []string{"work"}, corev1.VolumeMount{Name: "work", MountPath: "/data"},
		},
		"is the user's own if there is one": {
			`{spec: {volumes: [{name: work, hostPath: {path: /mnt}}]}}`, []string{"work"},
			corev1.VolumeMount{Name: "work", MountPath: "/home/runner/_work"},
		},
		"gives way to what the user mounts there, and stays for sidecars": {
			`{spec: {volumes: [{name: fast}], volumeMounts: [{name: fast, mountPath: /home/runner/_work/}]}}`, []string{"work", "fast"},
			corev1.VolumeMount{Name: "fast", MountPath: "/home/runner/_work/"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := runnerPod(t, tc.template, false)
			var names []string
			for _, v := range pod.Spec.Volumes {
				names = append(names, v.Name)
			}
			assert.Equal(t, tc.volumes, names)
			assert.Equal(t, []corev1.VolumeMount{tc.mount}, runnerContainer(t, pod).VolumeMounts)
		})
	}
}

func TestThePodSaysWhichPlanItCarries(t *testing.T) {
	with, without := runnerPod(t, `{spec: {}}`, true), runnerPod(t, `{spec: {}}`, false)
	hash := podspec.PlanHash(v1alpha1.PlanStatus{Runner: new(awsPodPlan())})
	assert.Equal(t, map[string]string{v1alpha1.AnnotationPlanHash: hash}, with.Annotations)
	assert.Empty(t, without.Annotations)
}

func TestAPodThatIsOnlyShownHasNoOwner(t *testing.T) {
	r := runnerOf(v1alpha1.RunnerTemplate{}, nil)
	r.Owner = nil
	pod, err := podspec.RunnerPod(r)
	require.NoError(t, err)
	assert.Empty(t, typed(t, pod).OwnerReferences)
}
