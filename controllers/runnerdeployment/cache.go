// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// CacheOptions is what the manager's cache must hold for this controller: of all pods those of runners, and of all Secrets those that
// we made. Other controllers watch Secrets too, and the cache has one selector for a kind.
func CacheOptions() (map[client.Object]cache.ByObject, error) {
	ofRunners, err := labels.NewRequirement(v1alpha1.LabelRunnerDeployment, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("select runner pods: %w", err)
	}
	return map[client.Object]cache.ByObject{
		&corev1.Pod{}: {
			Label:     labels.NewSelector().Add(*ofRunners),
			Transform: cache.TransformStripManagedFields(),
		},
		&corev1.Secret{}: {
			Label:     labels.SelectorFromSet(labels.Set{v1alpha1.LabelManagedBy: v1alpha1.FieldOwner}),
			Transform: cache.TransformStripManagedFields(),
		},
	}, nil
}
