// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// prove does with a runner pod's identity what clients in the pod would do.
func prove(ctx context.Context, w *world) error {
	heading("Proof: what " + w.client + " in the pod would do, with the pod's own token")
	pods := &corev1.PodList{}
	if err := w.kube.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelRunnerDeployment: w.deployment.Name}); err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return errors.New("the runner pods are gone")
	}
	return w.cloud.prove(ctx, &workload{Pod: &pods.Items[0], kube: w.kube, dir: w.dir})
}
