// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// ownManager is the field manager of what an identity owns.
const ownManager = client.FieldOwner(v1alpha1.FieldOwner)

// adopter is the field manager of what an identity adopts. Each identity has one of its own: two that adopt the same account
// then conflict where they differ, instead of taking turns, and each can leave without taking the other's fields along.
func adopter(name string) client.FieldOwner {
	return client.FieldOwner(v1alpha1.FieldOwner + "/" + name)
}

// owner are the owner references of what an identity owns.
func owner(ri *v1alpha1.RunnerIdentity) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(ri, v1alpha1.GroupVersion.WithKind("RunnerIdentity"))}
}

// bareAccount is an apply configuration that sets nothing. Applied, it gives up what its manager has set.
func bareAccount(of client.Object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	u.SetNamespace(of.GetNamespace())
	u.SetName(of.GetName())
	u.SetUID(of.GetUID())
	return u
}

// applyAccount applies without force and returns the account as it is then.
func (c *Controller) applyAccount(ctx context.Context, config *unstructured.Unstructured, manager client.FieldOwner) (*corev1.ServiceAccount, error) {
	if err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), manager); err != nil {
		return nil, err
	}
	sa := &corev1.ServiceAccount{}
	return sa, runtime.DefaultUnstructuredConverter.FromUnstructured(config.Object, sa)
}

// conflictsOf says, for each field that an apply without force could not set, who has set it to what, and what we would set.
func conflictsOf(err error, want, have *corev1.ServiceAccount) []string {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsConflict(err) || status.ErrStatus.Details == nil || have == nil {
		return nil
	}
	var conflicts []string
	for _, cause := range status.ErrStatus.Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			conflicts = append(conflicts, conflict(cause, want, have))
		}
	}
	return conflicts
}

func conflict(cause metav1.StatusCause, want, have *corev1.ServiceAccount) string {
	who := strings.TrimPrefix(cause.Message, "conflict with ")
	if key, ok := strings.CutPrefix(cause.Field, ".metadata.annotations."); ok {
		return fmt.Sprintf("ServiceAccount %q: annotation %s is %q, set by %s; this identity needs %q: remove the one or change the other",
			want.Name, key, have.Annotations[key], who, want.Annotations[key])
	}
	if key, ok := strings.CutPrefix(cause.Field, ".metadata.labels."); ok {
		return fmt.Sprintf("ServiceAccount %q: label %s is %q, set by %s; this identity needs %q: remove the one or change the other",
			want.Name, key, have.Labels[key], who, want.Labels[key])
	}
	return fmt.Sprintf("ServiceAccount %q: %s is set by %s", want.Name, cause.Field, who)
}
