// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// A world is what one reconciliation sees. Its RunnerIdentities are the cache's own: nobody may change them.
type world struct {
	provider *v1alpha1.IdentityProvider
	// claims are those of all providers: whether one stands depends on the others.
	claims []claim
	// namespaces are those that may be selected at all.
	namespaces []metav1.PartialObjectMetadata
	// identities are the RunnerIdentities of each namespace.
	identities map[string][]*v1alpha1.RunnerIdentity
}

func (w world) places() []place { return ofProvider(places(w.claims, w.namespaces), w.provider) }

// look reads the world, all of it from caches.
func (c *Controller) look(ctx context.Context, p *v1alpha1.IdentityProvider) (world, error) {
	w := world{provider: p, identities: map[string][]*v1alpha1.RunnerIdentity{}}
	var providers v1alpha1.IdentityProviderList
	var identities v1alpha1.RunnerIdentityList
	namespaces := &metav1.PartialObjectMetadataList{}
	namespaces.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	err := errors.Join(
		c.Client.List(ctx, &providers, client.UnsafeDisableDeepCopy),
		c.Client.List(ctx, &identities, client.UnsafeDisableDeepCopy),
		c.Client.List(ctx, namespaces, client.UnsafeDisableDeepCopy),
	)
	if err != nil {
		return w, fmt.Errorf("read IdentityProviders, RunnerIdentities and Namespaces: %w", err)
	}
	w.claims = claims(providers.Items)
	w.namespaces = slices.DeleteFunc(slices.Clone(namespaces.Items), c.excluded)
	for i := range identities.Items {
		ri := &identities.Items[i]
		w.identities[ri.Namespace] = append(w.identities[ri.Namespace], ri)
	}
	return w, nil
}

// system are the namespaces of Kubernetes itself.
var system = []string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}

// excluded reports whether no mapping selects a namespace, whatever its labels are.
func (c *Controller) excluded(ns metav1.PartialObjectMetadata) bool {
	return slices.Contains(system, ns.Name) || ns.Name == c.Namespace || !ns.DeletionTimestamp.IsZero() ||
		len(c.Watched) > 0 && !slices.Contains(c.Watched, ns.Name)
}

// identity is the RunnerIdentity of that name, nil if there is none.
func (w world) identity(key client.ObjectKey) *v1alpha1.RunnerIdentity {
	for _, ri := range w.identities[key.Namespace] {
		if ri.Name == key.Name {
			return ri
		}
	}
	return nil
}

// owned are the RunnerIdentities that the provider's mappings have made.
func (w world) owned() []*v1alpha1.RunnerIdentity {
	var owned []*v1alpha1.RunnerIdentity
	for _, all := range w.identities {
		for _, ri := range all {
			if metav1.IsControlledBy(ri, w.provider) {
				owned = append(owned, ri)
			}
		}
	}
	return owned
}

// madeByMapping reports whether a RunnerIdentity is a mapping's, of any provider.
func madeByMapping(ri *v1alpha1.RunnerIdentity) bool {
	ref := metav1.GetControllerOf(ri)
	return ref != nil && ref.Kind == "IdentityProvider" && ref.APIVersion == v1alpha1.GroupVersion.String()
}
