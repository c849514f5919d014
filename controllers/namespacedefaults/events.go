// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// announced are the conditions that events are about, and what the controller was at.
var announced = []struct{ condition, action string }{
	{v1alpha1.ConditionReady, "CheckProvider"},
	{v1alpha1.ConditionNamespaceDefaultsReady, "ApplyNamespaceDefaults"},
}

// announce makes one event of each condition that came to another status or reason. What happens to an account is told in its
// namespace, by its RunnerIdentity.
func (c *Controller) announce(before, after *v1alpha1.IdentityProvider) {
	for _, a := range announced {
		is, news := changed(before, after, a.condition)
		if !news || is.Status == metav1.ConditionUnknown || is.Reason == v1alpha1.ReasonNotNeeded || sums(after, is) {
			continue
		}
		c.Recorder.Eventf(after, nil, eventType(is), is.Reason, a.action, "%s", is.Message)
	}
}

// sums reports whether a condition is Ready and only repeats what the mappings' own says.
func sums(p *v1alpha1.IdentityProvider, is *metav1.Condition) bool {
	mappings, _ := changed(&v1alpha1.IdentityProvider{}, p, v1alpha1.ConditionNamespaceDefaultsReady)
	return is.Type == v1alpha1.ConditionReady && is.Message == mappings.Message
}

func eventType(c *metav1.Condition) string {
	if c.Status == metav1.ConditionTrue {
		return corev1.EventTypeNormal
	}
	return corev1.EventTypeWarning
}
