// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// hold puts the finalizer on the deployment, before anything is made that it must undo.
func (c *Controller) hold(ctx context.Context, s *scope) error {
	held := s.deployment.DeepCopy()
	if !controllerutil.AddFinalizer(held, v1alpha1.Finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(s.deployment, client.MergeFromWithOptimisticLock{})
	if err := c.Client.Patch(ctx, held, patch, client.FieldOwner(v1alpha1.FieldOwner)); err != nil {
		return fmt.Errorf("add finalizer: %w", err)
	}
	s.deployment.Finalizers, s.deployment.ResourceVersion = held.Finalizers, held.ResourceVersion
	return nil
}

// finish takes away the runners that came to their end.
func (c *Controller) finish(ctx context.Context, s *scope) error {
	return c.remove(ctx, s, s.decide().finish)
}

// retire ends runners that are too many or of an older template. A busy one stays, and the next best is asked.
func (c *Controller) retire(ctx context.Context, s *scope) error {
	for {
		victims := slices.DeleteFunc(s.decide().retire, func(r runner) bool {
			return !s.forced() && c.closed(ctx, s, r.record.target)
		})
		if len(victims) == 0 || c.late(s) {
			return nil
		}
		if err := c.remove(ctx, s, victims); err != nil {
			return err
		}
	}
}

// grow completes the runners of which a step is missing, and makes those that are missing: one, then twice as many each time
// that all went well, so that what fails for all fails for few.
func (c *Controller) grow(ctx context.Context, s *scope) error {
	if work := s.decide(); len(work.resume) > 0 {
		if _, err := c.make(ctx, s, work.resume); err != nil {
			return err
		}
	}
	made := 0
	defer func() { c.reportCreated(s, made) }()
	for batch := 1; ; batch = min(2*batch, parallelism) {
		missing := min(s.decide().create, batch)
		if missing == 0 || c.late(s) || c.closed(ctx, s, targetOf(s.deployment)) {
			return nil
		}
		fresh, err := c.newRunners(ctx, s, missing)
		if err != nil {
			return err
		}
		n, err := c.make(ctx, s, fresh)
		made += n
		if err != nil || n < missing {
			return err
		}
	}
}

// remove ends runners.
func (c *Controller) remove(ctx context.Context, s *scope, runners []runner) error {
	asks := func(runner) bool { return !s.forced() }
	return c.batches(ctx, s, runners, asks, func(r runner) result { return c.end(ctx, s, r) })
}

// make takes runners through the steps that are missing. It says how many are complete.
func (c *Controller) make(ctx context.Context, s *scope, runners []runner) (complete int, err error) {
	asks := func(r runner) bool { return r.record.id == 0 }
	err = c.batches(ctx, s, runners, asks, func(r runner) result { return c.complete(ctx, s, r) })
	for _, r := range s.runners {
		if named(runners, r.record.name) && !r.incomplete() {
			complete++
		}
	}
	return complete, err
}
