// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// defaultWorkers is how many deployments are worked on at a time: a slow GitHub holds one for passLimit at most.
const defaultWorkers = 10

// SetupWithManager starts the controller with a manager.
func (c *Controller) SetupWithManager(manager ctrl.Manager) error {
	asked := predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return builder.ControllerManagedBy(manager).
		Named("runnerdeployment").
		For(&v1alpha1.RunnerDeployment{}, builder.WithPredicates(asked)).
		Owns(&v1alpha1.RunnerIdentity{}).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(deploymentOf)).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(deploymentOf), builder.WithPredicates(podEvents())).
		WithOptions(controller.Options{MaxConcurrentReconciles: cmp.Or(c.Workers, defaultWorkers)}).
		Complete(c)
}

// deploymentOf maps records and pods to their deployment.
func deploymentOf(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[v1alpha1.LabelRunnerDeployment]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}

// podEvents lets through the changes of a pod that podOf would see. What admission webhooks, service meshes and the
// kubelet write otherwise wakes nobody.
func podEvents() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isPod := e.ObjectOld.(*corev1.Pod)
		now, isPodToo := e.ObjectNew.(*corev1.Pod)
		return !isPod || !isPodToo || !podOf(before).same(*podOf(now))
	}}
}
