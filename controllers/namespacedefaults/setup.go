// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// The right to update finalizers is what makes an owner reference that blocks its owner's deletion.
//
// +kubebuilder:rbac:groups=runner-identity.dev,resources=identityproviders,verbs=get;list;watch
// +kubebuilder:rbac:groups=runner-identity.dev,resources=identityproviders/status,verbs=patch
// +kubebuilder:rbac:groups=runner-identity.dev,resources=identityproviders/finalizers,verbs=update
// +kubebuilder:rbac:groups=runner-identity.dev,resources=runneridentities,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

const name = "namespacedefaults"

// Options are the choices of SetupWithManager. The zero value is good.
type Options struct {
	// Metrics is where metrics are registered. Default: controller-runtime's registry.
	Metrics prometheus.Registerer
	// SkipNameValidation allows several controllers in one process, for tests.
	SkipNameValidation bool
}

// SetupWithManager starts the controller with mgr.
func (c *Controller) SetupWithManager(mgr ctrl.Manager, o Options) error {
	c.metrics.reader = mgr.GetClient()
	if err := cmp.Or[prometheus.Registerer](o.Metrics, ctrlmetrics.Registry).Register(&c.metrics); err != nil {
		return err
	}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(&v1alpha1.IdentityProvider{}, changed).
		Watches(&v1alpha1.IdentityProvider{}, c.mappers(), changed).
		Watches(&v1alpha1.RunnerIdentity{}, c.mappers(), builder.WithPredicates(identityEvents())).
		WatchesMetadata(&corev1.Namespace{}, c.mappers(), builder.WithPredicates(namespaceEvents())).
		WithOptions(controller.Options{SkipNameValidation: new(o.SkipNameValidation)}).
		Complete(reconcile.AsReconciler(mgr.GetClient(), c))
}
