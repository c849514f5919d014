// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

// reasonPodRefused is the reason for pods that the API server does not take, such as for a quota.
const reasonPodRefused = "PodRefused"

// createPod makes the pod of a registered runner. Without one, the result says why.
func (c *Controller) createPod(ctx context.Context, s *scope, r runner) result {
	done := result{of: r, asked: r.record.fresh}
	object, err := podspec.RunnerPod(s.runnerPod(r.record.name, c.DefaultImage, ownerOf(r.record)))
	if err != nil {
		done.err = fmt.Errorf("make pod %s: %w", r.record.name, err)
		return done
	}
	made := &unstructured.Unstructured{Object: object}
	err = c.Client.Create(ctx, made, client.FieldOwner(v1alpha1.FieldOwner))
	switch {
	case err == nil:
		done.of.pod = &pod{uid: made.GetUID(), created: made.GetCreationTimestamp().Time}
	case apierrors.IsAlreadyExists(err):
		return c.takenPod(ctx, s, done)
	case refusing(err):
		done.refused = &trouble{reason: refusalReason(err), message: err.Error(), until: s.now.Add(retryRefused)}
	default:
		done.err = fmt.Errorf("create pod %s: %w", r.record.name, err)
	}
	return done
}

// takenPod looks at the pod that has the runner's name: it is ours if the answer to its creation was lost. If it is somebody
// else's, the runner is marked to end, and another gets another name.
func (c *Controller) takenPod(ctx context.Context, s *scope, done result) result {
	found := &corev1.Pod{}
	key := client.ObjectKey{Namespace: s.deployment.Namespace, Name: done.of.record.name}
	if err := c.Reader.Get(ctx, key, found); err != nil {
		done.err = fmt.Errorf("read pod %s: %w", key.Name, err)
		return done
	}
	if ownedBy(found, done.of.record) {
		done.of.pod = podOf(found)
		return done
	}
	// GitHub may not be open in this pass: the next one finds the mark and does the rest.
	done.err = c.mark(ctx, s, done.of.record)
	done.of.record.leaving, done.marked = true, retired
	return done
}

// runnerPod is what a runner's pod is made from.
func (s *scope) runnerPod(name, defaultImage string, owner *metav1.OwnerReference) podspec.Runner {
	return podspec.Runner{
		Namespace: s.deployment.Namespace, Name: name, Deployment: s.deployment.Name,
		Template: s.deployment.Spec.Template, Plan: s.plan, TemplateHash: s.hash, DefaultImage: defaultImage, Owner: owner,
	}
}

// ownerOf makes a pod its record's: never the deployment's, see the package's comment.
func ownerOf(r record) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: r.name, UID: r.uid, Controller: new(true)}
}

// refusing is whether the API server answers the same until somebody changes something.
func refusing(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)
}

func refusalReason(err error) string {
	if apierrors.IsForbidden(err) {
		return reasonPodRefused
	}
	return v1alpha1.ReasonInvalidSpec
}
