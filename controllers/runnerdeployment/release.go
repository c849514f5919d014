// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// release lets a deployment go that has no runners left.
func (c *Controller) release(ctx context.Context, s *scope) error {
	if len(s.runners) > 0 {
		return nil
	}
	// The cache may not have the newest record yet, and without the finalizer nothing would look for it again.
	left, err := c.records(ctx, c.Reader, s)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		s.wake = s.now
		return nil
	}
	free := s.deployment.DeepCopy()
	if !s.gone && controllerutil.RemoveFinalizer(free, v1alpha1.Finalizer) {
		patch := client.MergeFromWithOptions(s.deployment, client.MergeFromWithOptimisticLock{})
		if err := c.Client.Patch(ctx, free, patch, client.FieldOwner(v1alpha1.FieldOwner)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("take finalizer off: %w", err)
		}
	}
	s.released = true
	c.forget(client.ObjectKeyFromObject(s.deployment))
	return nil
}
