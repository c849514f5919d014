// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// summed are the conditions that Ready sums up, the root cause first: without its account an identity cannot be verified, and
// one that the cloud does not take cannot log in.
func summed() []string {
	return []string{v1alpha1.ConditionServiceAccountReady, v1alpha1.ConditionPrincipalVerified, v1alpha1.ConditionRegistryLoginReady}
}

// sumUp sets Ready: True if all is well or not needed, else what the first condition that is not says.
func sumUp(s *scope) {
	for _, kind := range summed() {
		have := meta.FindStatusCondition(s.identity.Status.Conditions, kind)
		switch {
		case have == nil:
			s.condition(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, kind+" is not known yet")
			return
		case have.Status == metav1.ConditionTrue, have.Reason == v1alpha1.ReasonNotNeeded:
			continue
		}
		s.condition(v1alpha1.ConditionReady, have.Status, have.Reason, have.Message)
		return
	}
	s.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady, "pods get this identity")
}

// save writes the status, if it changed, and then tells what changed.
func (c *Controller) save(ctx context.Context, s *scope) error {
	accounts := meta.FindStatusCondition(s.identity.Status.Conditions, v1alpha1.ConditionServiceAccountReady)
	if accounts != nil {
		s.identity.Status.ObservedGeneration = accounts.ObservedGeneration
	}
	patch := client.MergeFrom(s.before)
	if data, err := patch.Data(s.identity); err != nil || string(data) == "{}" {
		return err
	}
	after := s.identity.DeepCopy()
	if err := c.Client.Status().Patch(ctx, s.identity, patch, ownManager); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("patch status: %w", err))
	}
	c.announce(s.before, after)
	return nil
}
