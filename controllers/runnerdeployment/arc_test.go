// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	githubsim "github.com/runner-identity/runner-identity/testbed/github"
)

// Symptoms from Actions Runner Controller's issues, by their numbers.

func TestARC16ARunnerWithIRSADoesNotTerminateInALoop(t *testing.T) {
	w := newWorld(t)
	hook := w.eks()
	w.deployment("ci", 2)
	w.settle("ci")
	pods := w.pods("ci")
	require.Len(t, pods, 2)
	names := w.podNames("ci")
	for _, pod := range pods {
		require.Equal(t, "aws-iam-token", pod.Spec.Volumes[len(pod.Spec.Volumes)-1].Name, "the webhook changed the pod")
	}
	w.runs(names...)
	w.settle("ci")
	w.quiet("ci", func() { assert.GreaterOrEqual(t, hook.created.Load(), int64(2)) })
	assert.Equal(t, names, w.podNames("ci"))
}

func TestARC200AServiceAccountWithARoleNeedsNothingWrittenIntoTheSpec(t *testing.T) {
	w := newWorld(t)
	w.eks()
	w.deployment("ci", 1, func(d *v1alpha1.RunnerDeployment) { d.Spec.Template.Spec.ServiceAccountName = "default" })
	w.settle("ci")
	first := w.podNames("ci")
	w.runs(first...)
	w.settle("ci")
	w.restart()
	w.quiet("ci", func() {})
	assert.Equal(t, first, w.podNames("ci"), "not even a new controller compares pods")
}

func TestARC955BusyRunnersAreNotRestartedWhenAMeshChangesThem(t *testing.T) {
	w := newWorld(t)
	hook := w.eks()
	w.deployment("ci", 2)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names...)
	w.settle("ci")
	w.quiet("ci", func() {
		for _, pod := range w.pods("ci") {
			patch := client.RawPatch(types.StrategicMergePatchType, []byte(
				`{"metadata":{"finalizers":["mesh.test/hold"],"annotations":{"mesh.test/at":"1"},"labels":{"mesh.test/revision":"2",`+
					`"runner-identity.dev/template-hash":"other"}},"spec":{"containers":[{"name":"runner","image":"patched.test/runner:2"}]}}`))
			require.NoError(t, w.user.Patch(t.Context(), &pod, patch))
		}
	})
	assert.Positive(t, hook.updated.Load(), "the webhook saw the updates too")
	assert.Equal(t, names, w.podNames("ci"))
	w.unhold("ci")
}

func TestARC74ANewGitHubTokenTouchesNoRunner(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names[0])
	w.settle("ci")
	w.quiet("ci", func() {
		renewed := w.credentials("github")
		renewed.Labels = map[string]string{"renewed": "true"}
		require.NoError(t, w.user.Update(t.Context(), renewed))
		w.step(2 * time.Hour)
	})
	assert.Equal(t, names, w.podNames("ci"))
	assert.Equal(t, names, w.registered())
}

func TestARC206RunnersThatRunCostNoGitHubCalls(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 20)
	w.settle("ci")
	w.runs(w.podNames("ci")...)
	w.settle("ci")
	calls := w.github.Calls()
	for range 20 {
		w.step(time.Minute)
		w.settle("ci")
	}
	assert.Equal(t, calls, w.github.Calls())
	assert.Zero(t, calls[githubsim.RouteListAll].Total)
}

// quiet requires that what happens makes the controller write nothing, to the API server or to GitHub.
func (w *world) quiet(name string, happens func()) {
	w.Helper()
	w.line.mend(0, false)
	happens()
	for range 5 {
		_, err := w.pass(name)
		require.NoError(w, err)
	}
	assert.Empty(w, w.line.sent())
}

// unhold takes the mesh's finalizer off.
func (w *world) unhold(name string) {
	for _, pod := range w.pods(name) {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		require.NoError(w, w.user.Patch(w.Context(), &corev1.Pod{ObjectMeta: pod.ObjectMeta}, patch))
	}
}
