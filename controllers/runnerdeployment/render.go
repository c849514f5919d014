// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

// render makes a pod that nobody sees, to find what is wrong with the template before a runner is registered for it. A template that
// makes no pod has no hash: the runners of the one before go on.
func (c *Controller) render(_ context.Context, s *scope) error {
	if s.halt != nil {
		return nil
	}
	s.hash = podspec.TemplateHash(s.deployment.Spec.Template, s.plan, c.DefaultImage)
	if _, err := podspec.RunnerPod(s.runnerPod(s.deployment.Name+"-00000", c.DefaultImage, nil)); err != nil {
		s.hash = ""
		s.halt = &trouble{reason: v1alpha1.ReasonInvalidSpec, message: err.Error()}
	}
	return nil
}
