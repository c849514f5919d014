// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// write puts the report into the provider's status. The error is what is wrong with the provider itself.
func (r *report) write(wrong error) {
	p := r.provider
	p.Status.ObservedGeneration = p.Generation
	p.Status.NamespaceDefaults = nil
	for _, m := range p.Spec.NamespaceDefaults {
		counts := r.mappings[m.Name]
		counts.Name = m.Name
		p.Status.NamespaceDefaults = append(p.Status.NamespaceDefaults, counts)
	}
	status, reason, message := r.condition()
	set(p, v1alpha1.ConditionNamespaceDefaultsReady, status, reason, message)
	switch {
	case wrong != nil:
		set(p, v1alpha1.ConditionReady, metav1.ConditionFalse, string(identity.ReasonOf(wrong)), wrong.Error())
	case status != metav1.ConditionTrue:
		set(p, v1alpha1.ConditionReady, status, reason, message)
	default:
		set(p, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady, fmt.Sprintf("plug-in %s is in this build and takes the defaults", p.Spec.Plugin))
	}
}

func set(p *v1alpha1.IdentityProvider, kind string, status metav1.ConditionStatus, reason, message string) {
	v1alpha1.SetCondition(&p.Status.Conditions, p.Generation, kind, status, reason, message)
}

// save writes the status, if it changed, and then tells what changed.
func (c *Controller) save(ctx context.Context, before, after *v1alpha1.IdentityProvider) error {
	patch := client.MergeFrom(before)
	if data, err := patch.Data(after); err != nil || string(data) == "{}" {
		return err
	}
	told := after.DeepCopy()
	if err := c.Client.Status().Patch(ctx, after, patch, client.FieldOwner(v1alpha1.FieldOwner)); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("patch status: %w", err))
	}
	c.announce(before, told)
	return nil
}

// changed reports whether a condition came to another status or reason.
func changed(before, after *v1alpha1.IdentityProvider, kind string) (*metav1.Condition, bool) {
	was := meta.FindStatusCondition(before.Status.Conditions, kind)
	is := meta.FindStatusCondition(after.Status.Conditions, kind)
	return is, is != nil && (was == nil || was.Status != is.Status || was.Reason != is.Reason)
}
