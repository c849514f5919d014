// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"cmp"
	"context"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// Least privilege: ServiceAccounts and Secrets are written by server-side apply (create and patch); no list or watch asks for
// more than metadata, though RBAC cannot say so.
//
// +kubebuilder:rbac:groups=runner-identity.dev,resources=runneridentities,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=runner-identity.dev,resources=runneridentities/status,verbs=patch
// +kubebuilder:rbac:groups=runner-identity.dev,resources=runneridentities/finalizers,verbs=update
// +kubebuilder:rbac:groups=runner-identity.dev,resources=identityproviders,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=serviceaccounts/token,verbs=create
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

const (
	name           = "runneridentity"
	indexProvider  = "spec.identityProvider"
	defaultWorkers = 8
)

// Options are the choices of SetupWithManager. The zero value is good.
type Options struct {
	// Workers is how many identities are reconciled at a time. Default: 8.
	Workers int
	// Metrics is where metrics are registered. Default: controller-runtime's registry.
	Metrics prometheus.Registerer
	// SkipNameValidation allows several controllers in one process, for tests.
	SkipNameValidation bool
}

// SetupWithManager starts the controller with mgr.
func (c *Controller) SetupWithManager(ctx context.Context, mgr ctrl.Manager, o Options) error {
	c.metrics.reader = mgr.GetClient()
	if err := cmp.Or[prometheus.Registerer](o.Metrics, ctrlmetrics.Registry).Register(&c.metrics); err != nil {
		return err
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.RunnerIdentity{}, indexProvider, providerOf); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(&v1alpha1.RunnerIdentity{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.IdentityProvider{}, c.usersOfProvider(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.ServiceAccount{}, handler.EnqueueRequestsFromMapFunc(bindersOf)).
		Owns(&corev1.Secret{}, builder.OnlyMetadata).
		WatchesMetadata(&corev1.Namespace{}, c.identitiesIn(), builder.WithPredicates(relabelled())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cmp.Or(o.Workers, defaultWorkers),
			SkipNameValidation:      new(o.SkipNameValidation),
		}).
		Complete(reconcile.AsReconciler(mgr.GetClient(), c))
}
