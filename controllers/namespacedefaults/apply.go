// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// differs is whether a RunnerIdentity says something else than the wanted one.
func differs(live, want *v1alpha1.RunnerIdentity) bool {
	const label = v1alpha1.LabelNamespaceDefault
	return live.Labels[label] != want.Labels[label] || !equality.Semantic.DeepEqual(live.Spec, want.Spec)
}

// apply makes the RunnerIdentity what is wanted and gives it back as the API server has it then. It takes back what others changed
// in it: the object is the mapping's, and they change the mapping instead.
func (c *Controller) apply(ctx context.Context, p *v1alpha1.IdentityProvider, want *v1alpha1.RunnerIdentity) (*v1alpha1.RunnerIdentity, error) {
	want.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(p, v1alpha1.GroupVersion.WithKind("IdentityProvider"))}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return nil, fmt.Errorf("encode RunnerIdentity %q: %w", want.Name, err)
	}
	unstructured.RemoveNestedField(raw, "status")
	unstructured.RemoveNestedField(raw, "metadata", "creationTimestamp")
	u := &unstructured.Unstructured{Object: raw}
	err = c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(v1alpha1.FieldOwner), client.ForceOwnership)
	if err != nil {
		return nil, fmt.Errorf("apply RunnerIdentity %q: %w", want.Name, err)
	}
	applied := &v1alpha1.RunnerIdentity{}
	return applied, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, applied)
}

// prune deletes the provider's RunnerIdentities that no mapping asks for any more. Each lets go of its account before it is gone.
func (c *Controller) prune(ctx context.Context, w world, kept map[client.ObjectKey]bool) error {
	var errs []error
	for _, ri := range w.owned() {
		if kept[client.ObjectKeyFromObject(ri)] || !ri.DeletionTimestamp.IsZero() {
			continue
		}
		// As it was read, and not one that was made in its place. A copy, because the cache's own is nobody's to change.
		if err := c.Client.Delete(ctx, ri.DeepCopy(), client.Preconditions{UID: &ri.UID}); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete RunnerIdentity %s/%s: %w", ri.Namespace, ri.Name, err))
		}
	}
	return errors.Join(errs...)
}
