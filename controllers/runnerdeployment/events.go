// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// actions of events: what the controller was doing.
const (
	actionRegister  = "Register"
	actionReplace   = "Replace"
	actionReconcile = "Reconcile"
)

// reportCreated tells that runners were made, in one event for all.
func (c *Controller) reportCreated(s *scope, n int) {
	if n == 0 {
		return
	}
	c.Metrics.made(n)
	c.Events.Eventf(s.deployment, nil, corev1.EventTypeNormal, v1alpha1.ReasonRegistered, actionRegister, "registered %d new runners", n)
}

// reportFailed tells that a runner failed.
func (c *Controller) reportFailed(s *scope, r runner) {
	c.Events.Eventf(s.deployment, nil, corev1.EventTypeWarning, v1alpha1.ReasonRunnersFailing, actionReplace,
		"runner %s: %s", r.record.name, r.pod.cause)
}

// reportConditions tells what became wrong, and what is right again. Progress is no event.
func (c *Controller) reportConditions(s *scope) {
	told := map[string]bool{v1alpha1.ReasonScaling: true, v1alpha1.ReasonProgressing: true, v1alpha1.ReasonRunnersFailing: true}
	for _, kind := range []string{v1alpha1.ConditionRunnersRegistered, v1alpha1.ConditionReady} {
		now := meta.FindStatusCondition(s.deployment.Status.Conditions, kind)
		before := meta.FindStatusCondition(s.before.Conditions, kind)
		if now == nil || (before != nil && before.Reason == now.Reason) || told[now.Reason] {
			continue
		}
		told[now.Reason] = true
		level := corev1.EventTypeNormal
		if now.Status == metav1.ConditionFalse && now.Reason != v1alpha1.ReasonDeleting {
			level = corev1.EventTypeWarning
		}
		c.Events.Eventf(s.deployment, nil, level, now.Reason, actionReconcile, "%s", now.Message)
	}
}
