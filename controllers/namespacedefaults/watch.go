// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// mappers maps anything to all providers that have mappings. They are few, and what one may do depends on the others.
func (c *Controller) mappers() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		var list v1alpha1.IdentityProviderList
		// It reads the cache; there an error can only mean that the program ends.
		if err := c.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		var requests []reconcile.Request
		for _, p := range list.Items {
			if len(p.Spec.NamespaceDefaults) > 0 {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&p)})
			}
		}
		return requests
	})
}

// namespaceEvents lets through the changes of a Namespace that selectors see, and its end.
func namespaceEvents() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
			e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
	}}
}

// identityEvents lets through the changes of a RunnerIdentity that matter to others. A login that is renewed wakes nobody.
func identityEvents() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isOne := e.ObjectOld.(*v1alpha1.RunnerIdentity)
		now, isOneToo := e.ObjectNew.(*v1alpha1.RunnerIdentity)
		return !isOne || !isOneToo || seen(before) != seen(now)
	}}
}

// facts are what settle and judge see of a RunnerIdentity.
type facts struct {
	generation                        int64
	label, principal, reason, message string
	observed                          int64
	deleting                          bool
}

func seen(ri *v1alpha1.RunnerIdentity) facts {
	f := facts{
		generation: ri.Generation, principal: ri.Status.Principal, deleting: !ri.DeletionTimestamp.IsZero(),
		label: ri.Labels[v1alpha1.LabelNamespaceDefault],
	}
	if ready := meta.FindStatusCondition(ri.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		f.reason, f.message, f.observed = ready.Reason, ready.Message, ready.ObservedGeneration
	}
	return f
}
