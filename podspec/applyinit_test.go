// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

// waitingPlan waits for a metadata server and has a directory to write to.
func waitingPlan() v1alpha1.PodPlan {
	p := podspec.Of(identity.Plan{
		Dirs: []identity.EmptyDir{{Path: "/var/run/cloud", Volume: "cloud", For: identity.Both}},
		Waits: []identity.Wait{{
			Name: "metadata-server", URL: "http://169.254.169.254/token", For: identity.Both,
			Header: map[string]string{"Metadata-Flavor": "Google", "A": "b"},
		}},
	}, identity.Runner, "website-runner", nil)
	for i := range p.InitContainers {
		p.InitContainers[i].Image = "runner-identity:1"
	}
	return p
}

func applied(t *testing.T, pod podspec.Object) (corev1.Pod, podspec.Object, []podspec.Conflict) {
	t.Helper()
	raw, conflicts, err := podspec.Apply(pod, waitingPlan(), podspec.RunnerContainer)
	require.NoError(t, err)
	var typed corev1.Pod
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(raw, &typed, true))
	return typed, raw, conflicts
}

const podWithInit = `
metadata: {name: x}
spec:
  initContainers:
  - {name: setup, image: setup:1}
  - {name: docker, image: docker:dind, restartPolicy: Always}
  containers:
  - {name: runner, image: runner:1}
  - {name: proxy, image: proxy:1}
`

func TestAPodWaitsForItsIdentityBeforeItsOwnInitContainersAskForIt(t *testing.T) {
	pod, raw, conflicts := applied(t, parse[podspec.Object](t, podWithInit))
	require.Empty(t, conflicts)
	require.Len(t, pod.Spec.InitContainers, 3)
	first := pod.Spec.InitContainers[0]
	assert.Equal(t, "runner-identity-metadata-server", first.Name)
	assert.Equal(t, "runner-identity:1", first.Image)
	assert.Equal(t, []string{"wait", "--url=http://169.254.169.254/token", "--header=A: b", "--header=Metadata-Flavor: Google"}, first.Args)
	assert.True(t, *first.SecurityContext.RunAsNonRoot, "a namespace with restricted pods takes it")
	assert.NotEmpty(t, first.Resources.Limits, "a namespace with a quota takes it (ARC#3108)")
	assert.Equal(t, "setup", pod.Spec.InitContainers[1].Name)
	assert.Equal(t, corev1.ContainerRestartPolicyAlways, *pod.Spec.InitContainers[2].RestartPolicy)

	again, conflicts, err := podspec.Apply(raw, waitingPlan(), podspec.RunnerContainer)
	require.NoError(t, err)
	assert.Empty(t, conflicts)
	assert.Equal(t, raw, again)
}

func TestADirectoryOfThePlanCanBeWrittenToByTheNamedContainerOnly(t *testing.T) {
	pod, _, _ := applied(t, parse[podspec.Object](t, podWithInit))
	assert.Equal(t, []corev1.VolumeMount{{Name: "cloud", MountPath: "/var/run/cloud"}}, pod.Spec.Containers[0].VolumeMounts)
	assert.Empty(t, pod.Spec.Containers[1].VolumeMounts)
	require.Len(t, pod.Spec.Volumes, 1)
	assert.NotNil(t, pod.Spec.Volumes[0].EmptyDir)
}

func TestAnInitContainerOfOurNameThatDoesSomethingElseIsAConflict(t *testing.T) {
	_, _, conflicts := applied(t, parse[podspec.Object](t, `
spec:
  initContainers:
  - {name: runner-identity-metadata-server, image: theirs:1}
  containers:
  - {name: runner}
`))
	require.Len(t, conflicts, 1)
	assert.Contains(t, conflicts[0].String(), "runner-identity-metadata-server")
	assert.Contains(t, conflicts[0].String(), "theirs:1")
}

func TestWhatWebhooksFillInAroundAnInitContainerIsNoConflict(t *testing.T) {
	_, raw, _ := applied(t, parse[podspec.Object](t, podWithInit))
	init := raw["spec"].(podspec.Object)["initContainers"].([]any)[0].(podspec.Object)
	init["terminationMessagePath"], init["imagePullPolicy"] = "/dev/termination-log", "IfNotPresent"
	_, _, conflicts := applied(t, raw)
	assert.Empty(t, conflicts)
}

func TestAHookTemplateLeavesTheHooksOwnInitContainersAlone(t *testing.T) {
	b, err := podspec.HookTemplate(waitingPlan(), nil)
	require.NoError(t, err)
	assert.NotContains(t, string(b), "initContainers", "the hook's fs-init, which brings node, would be replaced (runner-container-hooks#348)")
}
