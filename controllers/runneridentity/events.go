// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// action says what the controller was at when a condition changed.
func action(condition string) string {
	switch condition {
	case v1alpha1.ConditionServiceAccountReady:
		return "ApplyAccounts"
	case v1alpha1.ConditionPrincipalVerified:
		return "Verify"
	}
	return "LogIn"
}

// announce makes one event of each condition that came to another status or reason. Ready says nothing of its own, and a
// login that is renewed as planned is no news.
func (c *Controller) announce(before, after *v1alpha1.RunnerIdentity) {
	for _, kind := range summed() {
		was := meta.FindStatusCondition(before.Status.Conditions, kind)
		is := meta.FindStatusCondition(after.Status.Conditions, kind)
		if is == nil || is.Status == metav1.ConditionUnknown || was != nil && was.Status == is.Status && was.Reason == is.Reason {
			continue
		}
		c.Recorder.Eventf(after, nil, eventType(is), is.Reason, action(kind), "%s", is.Message)
	}
}

func eventType(c *metav1.Condition) string {
	if c.Status == metav1.ConditionTrue {
		return corev1.EventTypeNormal
	}
	return corev1.EventTypeWarning
}
