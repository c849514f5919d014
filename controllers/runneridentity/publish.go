// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

// limits says what a carrier cannot do.
func limits(carrier v1alpha1.Delivery) string {
	switch carrier {
	case v1alpha1.DeliveryHookTemplate:
		return "needs runner container hooks 0.4 or later; not with service containers on hooks 0.8 or later, whose mounts would reach the services"
	case v1alpha1.DeliveryWorkVolume:
		return "files are as readable as the job's own; container hooks 0.8 or later see them as they were when the job began"
	}
	return ""
}

// publish puts the plan into status once the accounts carry their binding: a plan whose account is not bound would be half an
// identity. A plan that was published before stays until a whole one replaces it.
func (c *Controller) publish(_ context.Context, s *scope) error {
	if !meta.IsStatusConditionTrue(s.identity.Status.Conditions, v1alpha1.ConditionServiceAccountReady) {
		return nil
	}
	plan := s.resolved.PlanStatus()
	status := &s.identity.Status
	status.Plan = &plan
	status.PlanHash = podspec.PlanHash(plan)
	status.Principal = s.resolved.Plan.Principal
	status.Carrier = carrier(s)
	return nil
}

func carrier(s *scope) *v1alpha1.CarrierStatus {
	name := s.identity.Spec.Identity.Delivery
	// Jobs of a runner with a docker daemon have the runner's identity, which only the work volume brings into their containers.
	if !s.resolved.Request.Targets.Has(identity.Job) && name != v1alpha1.DeliveryWorkVolume {
		return nil
	}
	if name == "" {
		name = v1alpha1.DeliveryAdmission
	}
	return &v1alpha1.CarrierStatus{Name: name, Limits: limits(name)}
}
