// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	githubsim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestScalesUpAndDownAndNeverKillsABusyRunner(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 3)
	w.settle("ci")
	w.consistent("ci", 3)
	first := w.podNames("ci")
	w.runs(first...)
	w.settle("ci")
	assert.Equal(t, metav1.ConditionTrue, w.condition("ci", v1alpha1.ConditionReady).Status)

	w.scale("ci", 5)
	w.settle("ci")
	w.consistent("ci", 5)
	assert.Subset(t, w.podNames("ci"), first, "those that run are left alone")

	all := w.podNames("ci")
	w.runs(all...)
	busy := all[2]
	w.busy(busy)
	w.scale("ci", 1)
	w.settle("ci")
	left := w.podNames("ci")
	assert.Contains(t, left, busy)
	w.consistent("ci", 1)

	d := w.read("ci")
	assert.EqualValues(t, 1, d.Status.Replicas)
	assert.EqualValues(t, 1, d.Status.ReadyReplicas)
	assert.Equal(t, v1alpha1.LabelRunnerDeployment+"=ci", d.Status.Selector)
}

func TestScaleDownWithAllRunnersBusyWaitsAndAsksSparingly(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 4)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names...)
	w.scale("ci", 2)
	result := w.settle("ci")
	w.consistent("ci", 4)
	asked := w.github.Calls()[githubsim.RouteRemove].Total
	assert.Equal(t, 4, asked, "each was asked once")
	assert.Equal(t, 30*time.Second, result.RequeueAfter)

	for range 5 {
		w.settle("ci")
	}
	assert.Equal(t, asked, w.github.Calls()[githubsim.RouteRemove].Total, "the answer is remembered")

	w.done(names[:3]...)
	w.settle("ci")
	assert.Len(t, w.podNames("ci"), 2, "one busy runner goes on, one is new")
	assert.Contains(t, w.podNames("ci"), names[3])
}

func TestScaleDownTakesThoseThatLoseLeast(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 3)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names[1])
	w.scale("ci", 1)
	w.settle("ci")
	assert.Equal(t, []string{names[1]}, w.podNames("ci"), "the one that runs stays, those that wait for a node go")
	w.consistent("ci", 1)
}

func TestFiftyRunnersAreMadeInBatchesAndGitHubIsNeverAskedForAList(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 50)
	w.settle("ci")
	w.consistent("ci", 50)
	assert.Zero(t, w.github.Calls()[githubsim.RouteListAll].Total)
	assert.Zero(t, w.github.Calls()[githubsim.RouteFind].Total, "a new name needs no search")
	assert.Equal(t, 50, w.github.Calls()[githubsim.RouteRegister].Total)
}

func TestTheJITConfigIsInTheSecretAloneAndThePodRefersToIt(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1)
	w.settle("ci")
	pod := w.pods("ci")[0]
	secret := &corev1.Secret{}
	require.NoError(t, w.user.Get(t.Context(), w.key(pod.Name), secret))
	jit := string(secret.Data["jitconfig"])
	require.NotEmpty(t, jit)
	assert.NotContains(t, pod.String(), jit)
	assert.NotContains(t, w.told(), jit)
	_, runner, _ := w.github.Connect(jit)
	assert.Equal(t, pod.Name, runner.Name, "the JIT config starts the runner of the pod's name")
	assert.Equal(t, "Secret", pod.OwnerReferences[0].Kind)
}

func TestTemplateChangeReplacesIdleRunnersAndLetsBusyOnesFinish(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 3)
	w.settle("ci")
	old := w.podNames("ci")
	w.runs(old...)
	w.busy(old[0])
	before := w.read("ci").Status.TemplateHash

	w.edit("ci", func(d *v1alpha1.RunnerDeployment) { d.Spec.Template.Spec.Image = "runner.test/runner:2" })
	for range 6 {
		_, err := w.pass("ci")
		require.NoError(t, err)
		assert.LessOrEqual(t, len(w.podNames("ci")), 3, "never more than replicas")
	}
	w.consistent("ci", 3)
	now := w.podNames("ci")
	assert.Contains(t, now, old[0])
	assert.NotContains(t, now, old[1])
	assert.NotContains(t, now, old[2])
	assert.NotEqual(t, before, w.read("ci").Status.TemplateHash)
	assert.EqualValues(t, 2, w.read("ci").Status.UpdatedReplicas)

	w.done(old[0])
	w.settle("ci")
	w.consistent("ci", 3)
	assert.False(t, slices.Contains(w.podNames("ci"), old[0]))
	assert.EqualValues(t, 3, w.read("ci").Status.UpdatedReplicas)
}

func TestAChangeOfOrganisationAsksTheOldOneAboutItsRunners(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2)
	w.settle("ci")
	old := w.podNames("ci")
	w.runs(old...)
	w.busy(old[0])
	w.edit("ci", func(d *v1alpha1.RunnerDeployment) { d.Spec.Template.Spec.Organization = "beta" })
	w.settle("ci")
	assert.Contains(t, w.podNames("ci"), old[0], "beta does not know the runner, acme says that it is busy")
	w.consistent("ci", 2)
	for _, r := range w.github.Runners() {
		assert.Equal(t, r.Name == old[0], r.Scope == "orgs/acme", r.Name)
	}
}
