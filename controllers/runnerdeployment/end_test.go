// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	githubsim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestARunnerThatHadItsJobIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.done(names[0])
	w.settle("ci")
	w.consistent("ci", 2)
	assert.NotContains(t, w.podNames("ci"), names[0])
	assert.Contains(t, w.podNames("ci"), names[1])
	assert.Zero(t, w.read("ci").Status.Failures)
}

func TestARunnerEndsWithItsContainerAlthoughASidecarGoesOn(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1)
	w.settle("ci")
	pod := w.pods("ci")[0]
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "runner", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 0}}},
		{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
	}
	require.NoError(t, w.user.Status().Update(t.Context(), &pod))
	w.settle("ci")
	w.consistent("ci", 1)
	assert.NotEqual(t, pod.Name, w.podNames("ci")[0])
}

func TestFailedRunnersAreReplacedWithBackOffUntilOneEndsWell(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1)
	w.settle("ci")
	for i, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second} {
		w.state(w.podNames("ci")[0], corev1.PodFailed)
		result := w.settle("ci")
		assert.Empty(t, w.podNames("ci"), "no new runner before its time")
		assert.Empty(t, w.records("ci"))
		assert.Empty(t, w.registered())
		d := w.read("ci")
		assert.EqualValues(t, i+1, d.Status.Failures)
		assert.InDelta(t, want.Seconds(), d.Status.RetryAt.Sub(w.clock.Now()).Seconds(), 1)
		assert.InDelta(t, want.Seconds(), result.RequeueAfter.Seconds(), 1)
		assert.Equal(t, v1alpha1.ReasonRunnersFailing, w.condition("ci", v1alpha1.ConditionReady).Reason)
		w.restart() // the back-off survives the process
		w.step(want - time.Second)
		w.settle("ci")
		assert.Empty(t, w.podNames("ci"))
		w.step(2 * time.Second)
		w.settle("ci")
		w.consistent("ci", 1)
	}
	assert.Contains(t, w.told(), "the pod failed")

	name := w.podNames("ci")[0]
	w.runs(name)
	w.done(name)
	w.settle("ci")
	d := w.read("ci")
	assert.Zero(t, d.Status.Failures)
	assert.Nil(t, d.Status.RetryAt)
	w.consistent("ci", 1)
}

func TestBackOffGrowsToFiveMinutesAndNotFurther(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1)
	for range 12 {
		w.settle("ci")
		w.state(w.podNames("ci")[0], corev1.PodFailed)
		w.settle("ci")
		w.step(5*time.Minute + time.Second)
	}
	d := w.read("ci")
	assert.EqualValues(t, 12, d.Status.Failures)
	assert.InDelta(t, 300, d.Status.RetryAt.Sub(w.clock.Now().Add(-5*time.Minute-time.Second)).Seconds(), 1)
}

func TestManyRunnersThatFailAtOnceAreOneStepOfTheBackOff(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 6)
	w.settle("ci")
	for _, name := range w.podNames("ci") {
		w.state(name, corev1.PodFailed)
	}
	w.settle("ci")
	assert.EqualValues(t, 1, w.read("ci").Status.Failures)
}

func TestAPodDeletedByHandIsUnregisteredAndReplaced(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2)
	w.settle("ci")
	pods := w.pods("ci")
	w.runs(pods[0].Name, pods[1].Name)
	require.NoError(t, w.user.Delete(t.Context(), &pods[0]))
	w.settle("ci")
	w.consistent("ci", 2)
	assert.NotContains(t, w.podNames("ci"), pods[0].Name)
	assert.Zero(t, w.read("ci").Status.Failures, "that is no failure of the runner")
}

func TestARecordDeletedByHandEndsItsRunnerUnlessItIsBusy(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names[0])
	for _, name := range names {
		require.NoError(t, w.user.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}))
	}
	w.settle("ci")
	w.consistent("ci", 2)
	assert.Contains(t, w.podNames("ci"), names[0])
	assert.NotContains(t, w.podNames("ci"), names[1])
}

func TestAPodWithoutOurLabelIsStillFound(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1)
	w.settle("ci")
	pod := w.pods("ci")[0]
	w.runs(pod.Name)
	w.settle("ci")
	w.line.mend(0, false)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":null}}`))
	require.NoError(t, w.user.Patch(t.Context(), &pod, patch))
	w.settle("ci")
	assert.Empty(t, w.line.sent())
	assert.Equal(t, []string{pod.Name}, w.registered())
}

func TestAnUnusedJITConfigIsDiscardedBeforeItExpires(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names[0])
	result := w.settle("ci")
	assert.InDelta(t, 50*60, result.RequeueAfter.Seconds(), 1)
	w.step(49 * time.Minute)
	w.settle("ci")
	assert.Equal(t, names, w.podNames("ci"))
	w.step(2 * time.Minute)
	w.settle("ci")
	w.consistent("ci", 2)
	assert.Contains(t, w.podNames("ci"), names[0], "it runs: its JIT config is used")
	assert.NotContains(t, w.podNames("ci"), names[1])
}

func TestALostRunnerThatGitHubStillSeesBusyIsReplacedAndItsRecordKept(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1)
	w.settle("ci")
	pod := w.pods("ci")[0]
	w.runs(pod.Name)
	w.busy(pod.Name)
	require.NoError(t, w.user.Delete(t.Context(), &pod))
	w.settle("ci")
	assert.Len(t, w.podNames("ci"), 1)
	assert.Len(t, w.records("ci"), 2, "the record says what is left to remove")
	require.True(t, w.github.Set(pod.Name, githubsim.Online))
	w.step(time.Minute)
	w.settle("ci")
	w.consistent("ci", 1)
}
