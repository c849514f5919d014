// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runnerdeployment"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestDeletionRemovesIdleRunnersAndWaitsForBusyOnes(t *testing.T) {
	w := newWorld(t)
	d := w.deployment("ci", 3)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names[1])
	require.NoError(t, w.user.Delete(t.Context(), d))
	w.settle("ci")
	w.consistent("ci", 1)
	assert.Equal(t, names[1:2], w.podNames("ci"))
	ready := w.condition("ci", v1alpha1.ConditionReady)
	assert.Equal(t, v1alpha1.ReasonDeleting, ready.Reason)
	assert.Contains(t, ready.Message, "1 of 1 runners run jobs")

	w.done(names[1])
	w.settle("ci")
	w.consistent("ci", 0)
	assert.True(t, w.isGone("ci"))
}

func TestForegroundDeletionKillsNoBusyRunner(t *testing.T) {
	w := newWorld(t)
	require.True(t, cluster.Shared(t).Controllers, "the garbage collector must run")
	d := w.deployment("ci", 2)
	canary := w.canary(d)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names...)
	require.NoError(t, w.user.Delete(t.Context(), d, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	w.settle("ci")
	require.Eventually(t, func() bool {
		return apierrors.IsNotFound(w.user.Get(t.Context(), client.ObjectKeyFromObject(canary), &corev1.ConfigMap{}))
	}, 30*time.Second, 50*time.Millisecond, "the garbage collector took what the deployment owns")
	w.consistent("ci", 2)

	w.done(names...)
	w.settle("ci")
	w.consistent("ci", 0)
	require.Eventually(t, func() bool { return w.isGone("ci") }, 30*time.Second, 50*time.Millisecond)
}

func TestDeletionUsesTheClientOfASecretThatIsGoneAlready(t *testing.T) {
	w := newWorld(t)
	d := w.deployment("ci", 2)
	w.settle("ci")
	require.NoError(t, w.user.Delete(t.Context(), w.credentials("github")))
	w.step(10 * time.Minute)
	require.NoError(t, w.user.Delete(t.Context(), d))
	w.settle("ci")
	w.consistent("ci", 0)
	assert.True(t, w.isGone("ci"))
}

func TestDeletionWithoutCredentialsSaysSoAndGoesOnWhenTheyAreBack(t *testing.T) {
	w := newWorld(t)
	d := w.deployment("ci", 2)
	w.settle("ci")
	require.NoError(t, w.user.Delete(t.Context(), w.credentials("github")))
	require.NoError(t, w.user.Delete(t.Context(), d))
	w.restart()
	result := w.settle("ci")
	w.consistent("ci", 2)
	assert.NotZero(t, result.RequeueAfter)
	assert.Contains(t, w.condition("ci", v1alpha1.ConditionReady).Message, runnerdeployment.AnnotationForceDelete)
	assert.Contains(t, w.condition("ci", v1alpha1.ConditionRunnersRegistered).Message, w.namespace+"/github")
	assert.Contains(t, w.told(), v1alpha1.ReasonSecretNotFound)

	w.create(w.credentials("github"))
	w.step(result.RequeueAfter)
	w.settle("ci")
	w.consistent("ci", 0)
	assert.True(t, w.isGone("ci"))
}

func TestForcedDeletionAsksNobody(t *testing.T) {
	w := newWorld(t)
	d := w.deployment("ci", 3)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names[0])
	require.NoError(t, w.user.Delete(t.Context(), d))
	w.settle("ci")
	w.consistent("ci", 1)
	require.NoError(t, w.user.Delete(t.Context(), w.credentials("github")))
	w.edit("ci", func(d *v1alpha1.RunnerDeployment) {
		d.Annotations = map[string]string{runnerdeployment.AnnotationForceDelete: "true"}
	})
	w.settle("ci")
	assert.Empty(t, w.podNames("ci"))
	assert.Empty(t, w.records("ci"))
	assert.True(t, w.isGone("ci"))
}

func TestRunnersOfADeploymentWhoseFinalizerWasTakenOffAreEnded(t *testing.T) {
	w := newWorld(t)
	d := w.deployment("ci", 2)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names[0])
	require.NoError(t, w.user.Delete(t.Context(), d))
	require.NoError(t, w.user.Patch(t.Context(), d, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	require.True(t, w.isGone("ci"))
	w.settle("ci")
	w.consistent("ci", 1)
	assert.Equal(t, names[:1], w.podNames("ci"))
	w.done(names[0])
	w.settle("ci")
	w.consistent("ci", 0)
}

// canary makes an object that the deployment owns.
func (w *world) canary(of *v1alpha1.RunnerDeployment) client.Object {
	canary := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.namespace, Name: "canary",
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, v1alpha1.GroupVersion.WithKind("RunnerDeployment"))},
	}}
	w.create(canary)
	return canary
}

func (w *world) isGone(name string) bool {
	return apierrors.IsNotFound(w.user.Get(w.Context(), w.key(name), &v1alpha1.RunnerDeployment{}))
}
