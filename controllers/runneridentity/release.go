// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// undo takes back what was done to accounts of others. What the identity owns goes with it by owner reference.
func (c *Controller) undo(ctx context.Context, ri *v1alpha1.RunnerIdentity) error {
	if !controllerutil.ContainsFinalizer(ri, v1alpha1.Finalizer) {
		return nil
	}
	// Past the cache: it may not have seen an adoption of a moment ago yet, and there is no second chance.
	if err := c.releaseAccounts(ctx, ri, c.Reader, nil); err != nil {
		return err
	}
	before := ri.DeepCopy()
	controllerutil.RemoveFinalizer(ri, v1alpha1.Finalizer)
	return client.IgnoreNotFound(c.patchLocked(ctx, ri, before, ownManager))
}

// keepFinalizer sets or removes the finalizer. An identity has it only while it has adopted an account: one that owns all it
// made has nothing to undo, and its deletion never waits for a controller. It is written before the adoption it is for.
func (c *Controller) keepFinalizer(ctx context.Context, s *scope, wanted bool) error {
	if controllerutil.ContainsFinalizer(s.identity, v1alpha1.Finalizer) == wanted {
		return nil
	}
	// A copy, because the answer to the patch would replace the status that is being built.
	next := s.before.DeepCopy()
	if wanted {
		controllerutil.AddFinalizer(next, v1alpha1.Finalizer)
	} else {
		controllerutil.RemoveFinalizer(next, v1alpha1.Finalizer)
	}
	if err := c.patchLocked(ctx, next, s.before, ownManager); err != nil {
		return fmt.Errorf("patch finalizer: %w", err)
	}
	for _, o := range []*v1alpha1.RunnerIdentity{s.identity, s.before} {
		o.Finalizers, o.ResourceVersion = next.Finalizers, next.ResourceVersion
	}
	return nil
}

// releaseAccounts lets go of all accounts of the identity but those named.
func (c *Controller) releaseAccounts(ctx context.Context, ri *v1alpha1.RunnerIdentity, reader client.Reader, but []string) error {
	bound := &metav1.PartialObjectMetadataList{}
	bound.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccountList"))
	err := reader.List(ctx, bound, client.InNamespace(ri.Namespace), client.HasLabels{v1alpha1.LabelBound})
	if err != nil {
		return fmt.Errorf("list bound ServiceAccounts: %w", err)
	}
	for _, m := range bound.Items {
		if slices.Contains(but, m.Name) || !slices.Contains(identitiesOf(&m), ri.Name) {
			continue
		}
		if err := c.release(ctx, ri, m.Name); err != nil {
			return fmt.Errorf("release ServiceAccount %q: %w", m.Name, err)
		}
	}
	return nil
}

// release takes from an account what is ours. An account of our own stays, bare, until the identity goes: pods may be running
// as it. The mark that it is bound goes last, so that whoever is interrupted finds it again.
func (c *Controller) release(ctx context.Context, ri *v1alpha1.RunnerIdentity, name string) error {
	sa := &corev1.ServiceAccount{}
	if err := c.Reader.Get(ctx, accountKey(ri.Namespace, name), sa); err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := c.setPullSecret(ctx, ri, sa, false); err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := c.forgetManager(ctx, ri, sa); err != nil {
		return client.IgnoreNotFound(err)
	}
	config, manager := bareAccount(sa), adopter(ri.Name)
	if metav1.IsControlledBy(sa, ri) {
		config.SetOwnerReferences(owner(ri))
		config.SetLabels(map[string]string{v1alpha1.LabelRunnerIdentity: ri.Name})
		manager = ownManager
	}
	_, err := c.applyAccount(ctx, config, manager)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
