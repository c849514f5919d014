// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/resolve"
)

// identify makes the deployment's RunnerIdentity and waits for its plan: no pod is made with half an identity.
func (c *Controller) identify(ctx context.Context, s *scope) error {
	want := resolve.Owned(s.deployment, c.DefaultImage)
	if want == nil {
		meta.RemoveStatusCondition(&s.deployment.Status.Conditions, v1alpha1.ConditionIdentityReady)
		return nil
	}
	live, err := c.liveIdentity(ctx, want)
	if err != nil {
		return err
	}
	if live != nil && !metav1.IsControlledBy(live, s.deployment) {
		s.notReady(v1alpha1.ReasonIdentityNotReady, fmt.Sprintf("RunnerIdentity %s exists already and is not this RunnerDeployment's; "+
			"delete it, or give the RunnerDeployment another name", want.Name))
		return nil
	}
	if live == nil || (live.DeletionTimestamp == nil && differs(live, want)) {
		if live, err = c.applyIdentity(ctx, s, want); err != nil {
			return err
		}
	}
	s.identity = live
	s.judge(live)
	return nil
}

// liveIdentity is the RunnerIdentity of the wanted one's name, nil if there is none. What the cache does not know is asked of the API
// server: to apply over one that somebody made a moment ago would take it from him.
func (c *Controller) liveIdentity(ctx context.Context, want *v1alpha1.RunnerIdentity) (*v1alpha1.RunnerIdentity, error) {
	live := &v1alpha1.RunnerIdentity{}
	err := c.Client.Get(ctx, client.ObjectKeyFromObject(want), live)
	if apierrors.IsNotFound(err) {
		err = c.Reader.Get(ctx, client.ObjectKeyFromObject(want), live)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read RunnerIdentity %s: %w", want.Name, err)
	}
	return live, nil
}

// differs is whether the live object says something else than the wanted one, with the defaults of the API filled in.
func differs(live, want *v1alpha1.RunnerIdentity) bool {
	spec := want.Spec.DeepCopy()
	if spec.Identity.Delivery == "" {
		spec.Identity.Delivery = v1alpha1.DeliveryAdmission
	}
	for key, value := range want.Labels {
		if live.Labels[key] != value {
			return true
		}
	}
	return !equality.Semantic.DeepEqual(live.Spec, *spec)
}

// applyIdentity applies the RunnerIdentity and gives it back as the API server has it now: its generation may be ahead of the cache's.
// It takes back what others changed in it: the object is ours, and they change the RunnerDeployment instead.
func (c *Controller) applyIdentity(ctx context.Context, s *scope, want *v1alpha1.RunnerIdentity) (*v1alpha1.RunnerIdentity, error) {
	want.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(s.deployment, v1alpha1.GroupVersion.WithKind("RunnerDeployment")),
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return nil, fmt.Errorf("encode RunnerIdentity %s: %w", want.Name, err)
	}
	unstructured.RemoveNestedField(raw, "status")
	unstructured.RemoveNestedField(raw, "metadata", "creationTimestamp")
	object := &unstructured.Unstructured{Object: raw}
	err = c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(v1alpha1.FieldOwner), client.ForceOwnership)
	if err != nil {
		return nil, fmt.Errorf("apply RunnerIdentity %s: %w", want.Name, err)
	}
	applied := &v1alpha1.RunnerIdentity{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, applied); err != nil {
		return nil, fmt.Errorf("decode RunnerIdentity %s: %w", want.Name, err)
	}
	return applied, nil
}

// judge takes the plan if the identity is ready, else says what it waits for in the identity's own words.
func (s *scope) judge(identity *v1alpha1.RunnerIdentity) {
	current := identity.Status.ObservedGeneration == identity.Generation
	accounts := meta.FindStatusCondition(identity.Status.Conditions, v1alpha1.ConditionServiceAccountReady)
	told := current && accounts != nil && accounts.ObservedGeneration == identity.Generation
	switch {
	case identity.DeletionTimestamp != nil:
		s.notReady(v1alpha1.ReasonProgressing, fmt.Sprintf("RunnerIdentity %s is being deleted; it is made again then", identity.Name))
	case told && accounts.Status == metav1.ConditionTrue && identity.Status.Plan != nil:
		s.plan = identity.Status.Plan.Runner
		s.condition(v1alpha1.ConditionIdentityReady, metav1.ConditionTrue, v1alpha1.ReasonReady,
			fmt.Sprintf("RunnerIdentity %s is ready", identity.Name))
	case told && accounts.Status != metav1.ConditionTrue:
		s.notReady(accounts.Reason, fmt.Sprintf("RunnerIdentity %s: %s", identity.Name, accounts.Message))
	default:
		s.notReady(v1alpha1.ReasonProgressing, fmt.Sprintf("RunnerIdentity %s has no plan for its present spec yet", identity.Name))
	}
}

// notReady says why the identity is not ready. No runner is made then; those that there are go on.
func (s *scope) notReady(reason, message string) {
	s.condition(v1alpha1.ConditionIdentityReady, metav1.ConditionFalse, reason, message)
	s.halt = &trouble{reason: v1alpha1.ReasonIdentityNotReady, message: message}
	if reason == v1alpha1.ReasonProgressing {
		s.halt.reason = reason // the first second of every deployment is no trouble, and worth no event
	}
}

// dropIdentity deletes the RunnerIdentity of a deployment that has no provider any more, once no runner was made with it.
func (c *Controller) dropIdentity(ctx context.Context, s *scope) error {
	if s.deployment.Spec.Template.Spec.IdentityProvider != "" {
		return nil
	}
	live := &v1alpha1.RunnerIdentity{}
	err := c.Client.Get(ctx, client.ObjectKeyFromObject(s.deployment), live)
	if apierrors.IsNotFound(err) || (err == nil && (!metav1.IsControlledBy(live, s.deployment) || live.DeletionTimestamp != nil)) {
		return nil
	}
	for _, r := range s.runners {
		if r.counts() && r.record.hash != s.hash {
			return nil
		}
	}
	if err == nil {
		err = c.Client.Delete(ctx, live, client.Preconditions{UID: &live.UID})
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete RunnerIdentity %s: %w", s.deployment.Name, err)
	}
	return nil
}
