// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func TestNoPodIsMadeBeforeTheIdentityHasAPlan(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2, withIdentity)
	w.settle("ci")
	assert.Empty(t, w.records("ci"))
	assert.Equal(t, v1alpha1.ReasonProgressing, w.condition("ci", v1alpha1.ConditionReady).Reason)
	assert.Equal(t, v1alpha1.ReasonProgressing, w.condition("ci", v1alpha1.ConditionIdentityReady).Reason)
	identity := w.identity("ci")
	assert.Equal(t, "ci", metav1.GetControllerOf(identity).Name)

	w.publish("ci", metav1.ConditionFalse, v1alpha1.ReasonAccountConflict, "ServiceAccount ci-runner is annotated by someone else", nil)
	w.settle("ci")
	assert.Empty(t, w.records("ci"))
	assert.Equal(t, v1alpha1.ReasonAccountConflict, w.condition("ci", v1alpha1.ConditionIdentityReady).Reason)
	assert.Contains(t, w.condition("ci", v1alpha1.ConditionReady).Message, "annotated by someone else")

	w.publish("ci", metav1.ConditionTrue, v1alpha1.ReasonAccountApplied, "", plan("arn:aws:iam::111122223333:role/ci"))
	w.settle("ci")
	w.consistent("ci", 2)
	container := w.pods("ci")[0].Spec.Containers[0]
	env := map[string]string{}
	for _, e := range container.Env {
		env[e.Name] = e.Value
	}
	assert.Equal(t, "arn:aws:iam::111122223333:role/ci", env["AWS_ROLE_ARN"])
}

func TestAPlanThatChangesReplacesRunnersAndOneThatStaysDoesNot(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2, withIdentity)
	w.settle("ci")
	w.publish("ci", metav1.ConditionTrue, v1alpha1.ReasonAccountApplied, "", plan("arn:aws:iam::111122223333:role/ci"))
	w.settle("ci")
	first := w.podNames("ci")
	w.runs(first...)
	w.publish("ci", metav1.ConditionTrue, v1alpha1.ReasonAccountApplied, "again", plan("arn:aws:iam::111122223333:role/ci"))
	w.settle("ci")
	assert.Equal(t, first, w.podNames("ci"))

	w.publish("ci", metav1.ConditionFalse, v1alpha1.ReasonProviderNotFound, "no provider is called aws", nil)
	w.settle("ci")
	assert.Equal(t, first, w.podNames("ci"), "runners go on when the identity is in trouble")

	w.publish("ci", metav1.ConditionTrue, v1alpha1.ReasonAccountApplied, "", plan("arn:aws:iam::111122223333:role/other"))
	w.settle("ci")
	w.consistent("ci", 2)
	for _, name := range first {
		assert.NotContains(t, w.podNames("ci"), name)
	}
}

func TestAChangeOfTheSpecIsNotMetWithTheOldPlan(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1, withIdentity)
	w.settle("ci")
	w.publish("ci", metav1.ConditionTrue, v1alpha1.ReasonAccountApplied, "", plan("arn:aws:iam::111122223333:role/ci"))
	w.settle("ci")
	first := w.podNames("ci")
	w.edit("ci", func(d *v1alpha1.RunnerDeployment) {
		d.Spec.Template.Spec.Identity.AWS.RoleARN = "arn:aws:iam::111122223333:role/new"
	})
	w.settle("ci")
	assert.Equal(t, "arn:aws:iam::111122223333:role/new", w.identity("ci").Spec.Identity.AWS.RoleARN)
	assert.Equal(t, v1alpha1.ReasonProgressing, w.condition("ci", v1alpha1.ConditionReady).Reason)
	assert.Equal(t, first, w.podNames("ci"))
}

func TestAnIdentityOfOthersIsNeitherUsedNorTouched(t *testing.T) {
	w := newWorld(t)
	foreign := &v1alpha1.RunnerIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "ci"},
		Spec:       v1alpha1.RunnerIdentitySpec{IdentityProvider: "gcp"},
	}
	w.create(foreign)
	w.deployment("ci", 1, withIdentity)
	w.settle("ci")
	assert.Contains(t, w.condition("ci", v1alpha1.ConditionReady).Message, "RunnerIdentity ci exists already")
	assert.Equal(t, foreign.ResourceVersion, w.identity("ci").ResourceVersion)
	assert.Empty(t, w.records("ci"))

	w.edit("ci", func(d *v1alpha1.RunnerDeployment) {
		d.Spec.Template.Spec.IdentityProvider, d.Spec.Template.Spec.Identity = "", nil
	})
	w.settle("ci")
	assert.Equal(t, foreign.ResourceVersion, w.identity("ci").ResourceVersion)
	w.consistent("ci", 1)
}

func TestTheIdentityGoesWithTheProviderOnceNoRunnerNeedsIt(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2, withIdentity)
	w.settle("ci")
	w.publish("ci", metav1.ConditionTrue, v1alpha1.ReasonAccountApplied, "", plan("arn:aws:iam::111122223333:role/ci"))
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.busy(names[0])
	w.edit("ci", func(d *v1alpha1.RunnerDeployment) {
		d.Spec.Template.Spec.IdentityProvider, d.Spec.Template.Spec.Identity = "", nil
	})
	w.settle("ci")
	w.consistent("ci", 2)
	assert.Nil(t, w.identity("ci").DeletionTimestamp, "a busy runner still uses it")
	w.done(names[0])
	w.settle("ci")
	w.consistent("ci", 2)
	err := w.user.Get(t.Context(), w.key("ci"), &v1alpha1.RunnerIdentity{})
	assert.NoError(t, client.IgnoreNotFound(err))
	assert.Error(t, err)
}

func TestASpecThatMakesNoPodIsReportedAndRetriedByNobody(t *testing.T) {
	cases := map[string]struct {
		change func(*v1alpha1.RunnerDeployment)
		want   string
	}{
		"a container mode that this version does not know": {
			change: func(d *v1alpha1.RunnerDeployment) {
				d.Spec.Template.Spec.ContainerMode = v1alpha1.ContainerModeKubernetes
				d.Spec.Template.Spec.WorkVolumeClaimTemplate = &v1alpha1.WorkVolumeClaimTemplate{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				}
			},
			want: `containerMode: "kubernetes"`,
		},
		"a variable that is ours": {
			change: func(d *v1alpha1.RunnerDeployment) {
				d.Spec.Template.Spec.Env = []corev1.EnvVar{{Name: "ACTIONS_RUNNER_INPUT_JITCONFIG", Value: "mine"}}
			},
			want: "ACTIONS_RUNNER_INPUT_JITCONFIG",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deployment("ci", 2, c.change)
			result := w.settle("ci")
			ready := w.condition("ci", v1alpha1.ConditionReady)
			assert.Equal(t, v1alpha1.ReasonInvalidSpec, ready.Reason)
			assert.Contains(t, ready.Message, c.want)
			assert.Zero(t, result)
			assert.Empty(t, w.records("ci"))
			assert.Empty(t, w.registered())
		})
	}
}

func TestAPodThatTheAPIServerRefusesCostsOneRegistration(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 5, func(d *v1alpha1.RunnerDeployment) { d.Spec.Template.Spec.ServiceAccountName = "missing" })
	result := w.settle("ci")
	ready := w.condition("ci", v1alpha1.ConditionReady)
	assert.Equal(t, "PodRefused", ready.Reason)
	assert.Contains(t, ready.Message, "missing")
	assert.NotZero(t, result.RequeueAfter)
	assert.Len(t, w.registered(), 1)
	for range 3 {
		w.step(result.RequeueAfter)
		result = w.settle("ci")
	}
	assert.Len(t, w.registered(), 1, "its JIT config is kept for the next try")

	w.edit("ci", func(d *v1alpha1.RunnerDeployment) { d.Spec.Template.Spec.ServiceAccountName = "default" })
	w.settle("ci")
	w.consistent("ci", 5)
}

func TestATemplateThatTheAPIServerRefusesCostsOneIdleRunner(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 5)
	w.settle("ci")
	names := w.podNames("ci")
	w.runs(names...)
	w.edit("ci", func(d *v1alpha1.RunnerDeployment) { d.Spec.Template.Spec.ServiceAccountName = "missing" })
	result := w.settle("ci")
	for range 3 {
		w.step(result.RequeueAfter)
		result = w.settle("ci")
	}
	assert.Len(t, w.podNames("ci"), 4)
	left := w.podNames("ci")
	assert.Subset(t, names, left)

	w.edit("ci", func(d *v1alpha1.RunnerDeployment) { d.Spec.Template.Spec.ServiceAccountName = "" })
	w.settle("ci")
	w.consistent("ci", 5)
	assert.Subset(t, w.podNames("ci"), left, "with the old template back, its runners stay")
}

func withIdentity(d *v1alpha1.RunnerDeployment) {
	d.Spec.Template.Spec.IdentityProvider = "aws"
	d.Spec.Template.Spec.Identity = &v1alpha1.Identity{AWS: &v1alpha1.AWSIdentity{RoleARN: "arn:aws:iam::111122223333:role/ci"}}
}

func plan(role string) *v1alpha1.PlanStatus {
	return &v1alpha1.PlanStatus{Runner: &v1alpha1.PodPlan{
		ServiceAccountName: "default",
		Env:                []v1alpha1.EnvVar{{Name: "AWS_ROLE_ARN", Value: role}},
	}}
}

func (w *world) identity(name string) *v1alpha1.RunnerIdentity {
	w.Helper()
	identity := &v1alpha1.RunnerIdentity{}
	require.NoError(w, w.user.Get(w.Context(), w.key(name), identity))
	return identity
}

// publish writes an identity's status, as its controller does.
func (w *world) publish(name string, status metav1.ConditionStatus, reason, message string, plan *v1alpha1.PlanStatus) {
	w.Helper()
	identity := w.identity(name)
	identity.Status.ObservedGeneration = identity.Generation
	identity.Status.Plan = plan
	v1alpha1.SetCondition(&identity.Status.Conditions, identity.Generation, v1alpha1.ConditionServiceAccountReady, status, reason, message)
	require.NoError(w, w.user.Status().Update(w.Context(), identity))
}
