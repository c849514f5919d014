// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/resolve"
)

// setPullSecret puts the name of our registry Secret on an account's list, or takes it off. Server-side apply knows the list
// only as a whole and would make all of it ours; so this is an optimistic patch that leaves the rest as it is.
func (c *Controller) setPullSecret(ctx context.Context, ri *v1alpha1.RunnerIdentity, sa *corev1.ServiceAccount, wanted bool) error {
	ours := corev1.LocalObjectReference{Name: resolve.RegistrySecretName(ri.Name)}
	if slices.Contains(sa.ImagePullSecrets, ours) == wanted {
		return nil
	}
	before := sa.DeepCopy()
	if wanted {
		sa.ImagePullSecrets = append(sa.ImagePullSecrets, ours)
	} else {
		sa.ImagePullSecrets = slices.DeleteFunc(sa.ImagePullSecrets, func(r corev1.LocalObjectReference) bool { return r == ours })
	}
	return c.patchLocked(ctx, sa, before, adopter(ri.Name))
}

// forgetManager takes our name off the fields that a patch of ours changed. It is what is left of a pull secret list that is
// the user's again; without this, the user's next server-side apply of it would conflict with somebody who is gone. (It does so with "before-first-apply" if the list is all that he ever
// applied: an object that nobody manages a field of belongs to that name.)
func (c *Controller) forgetManager(ctx context.Context, ri *v1alpha1.RunnerIdentity, sa *corev1.ServiceAccount) error {
	updated := func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == string(adopter(ri.Name)) && m.Operation == metav1.ManagedFieldsOperationUpdate
	}
	if !slices.ContainsFunc(sa.ManagedFields, updated) {
		return nil
	}
	before := sa.DeepCopy()
	sa.ManagedFields = slices.DeleteFunc(sa.ManagedFields, updated)
	return c.patchLocked(ctx, sa, before, adopter(ri.Name))
}

// patchLocked patches what differs from before, and only if nobody else has written since.
func (c *Controller) patchLocked(ctx context.Context, o, before client.Object, manager client.FieldOwner) error {
	return c.Client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), manager)
}
