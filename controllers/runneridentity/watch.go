// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// CacheOptions limits the caches of ServiceAccounts and Secrets to those that identities have to do with. The watches ask for
// metadata only; of ServiceAccounts the managed fields are needed, so no transform may strip them.
func CacheOptions() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&corev1.ServiceAccount{}: {Label: having(v1alpha1.LabelBound)},
		// The Secrets of runners are watched too, by the other controller, and a kind has one selector.
		&corev1.Secret{}: {
			Label:     labels.SelectorFromSet(labels.Set{v1alpha1.LabelManagedBy: v1alpha1.FieldOwner}),
			Transform: cache.TransformStripManagedFields(),
		},
	}
}

func having(label string) labels.Selector {
	r, err := labels.NewRequirement(label, selection.Exists, nil)
	if err != nil {
		return labels.Nothing()
	}
	return labels.NewSelector().Add(*r)
}

// providerOf is the index of identities by the provider that they ask for.
func providerOf(o client.Object) []string {
	return []string{o.(*v1alpha1.RunnerIdentity).Spec.IdentityProvider} //nolint:forcetypeassert // indexed for this type only
}

// usersOfProvider maps an IdentityProvider to the identities that ask for it.
func (c *Controller) usersOfProvider() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		return c.list(ctx, client.MatchingFields{indexProvider: o.GetName()})
	})
}

// identitiesIn maps a Namespace to the identities in it.
func (c *Controller) identitiesIn() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		return c.list(ctx, client.InNamespace(o.GetName()))
	})
}

// list reads the cache; there an error can only mean that the program ends.
func (c *Controller) list(ctx context.Context, o client.ListOption) []reconcile.Request {
	var list v1alpha1.RunnerIdentityList
	if err := c.Client.List(ctx, &list, o, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for _, ri := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&ri)})
	}
	return requests
}

// relabelled lets Namespaces through whose labels changed: allowedNamespaces may now see them with other eyes.
func relabelled() predicate.Predicate {

	return predicate.Funcs{
		UpdateFunc:  predicate.LabelChangedPredicate{}.Update,
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// bindersOf maps a ServiceAccount to the identities that are bound to it.
func bindersOf(_ context.Context, o client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range identitiesOf(o) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}})
	}
	return requests
}

// identitiesOf are the names of the identities that own an account or have adopted it: what they applied says so.
func identitiesOf(o client.Object) []string {
	var names []string
	if ref := metav1.GetControllerOf(o); ref != nil && ref.Kind == "RunnerIdentity" && strings.HasPrefix(ref.APIVersion, v1alpha1.Group+"/") {
		names = append(names, ref.Name)
	}
	for _, m := range o.GetManagedFields() {
		if name, ok := strings.CutPrefix(m.Manager, string(adopter(""))); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
