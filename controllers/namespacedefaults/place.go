// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/resolve"
)

// A place is a namespace that a mapping selects.
type place struct {
	claim

	namespace string
	labels    map[string]string
	// all are the claims on the namespace's account, this one's included. The first stands.
	all []claim
}

// key is that of the RunnerIdentity of the place.
func (p place) key() client.ObjectKey {
	return client.ObjectKey{Namespace: p.namespace, Name: resolve.NamespaceDefaultName(p.provider.Name, p.mapping.Name)}
}

// stands reports whether the place's claim is the one that counts.
func (p place) stands() bool {
	first := p.all[0]
	return first.provider.UID == p.provider.UID && first.mapping.Name == p.mapping.Name
}

// contested says who else claims the account. Empty: nobody.
func (p place) contested() string {
	if len(p.all) < 2 {
		return ""
	}
	names := make([]string, 0, len(p.all))
	for _, c := range p.all {
		names = append(names, c.String())
	}
	return fmt.Sprintf("ServiceAccount %q is claimed by %s; the first stands: the older provider's, or the first in its list", p.account(), strings.Join(names, " and "))
}

// places are those that claims select, by namespace.
func places(claims []claim, namespaces []metav1.PartialObjectMetadata) []place {
	sorted := slices.SortedFunc(slices.Values(namespaces), func(a, b metav1.PartialObjectMetadata) int { return cmp.Compare(a.Name, b.Name) })
	var all []place
	for _, ns := range sorted {
		byAccount := map[string][]claim{}
		var here []claim
		for _, c := range claims {
			if c.selector.Matches(labels.Set(ns.Labels)) {
				here = append(here, c)
				byAccount[c.account()] = append(byAccount[c.account()], c)
			}
		}
		for _, c := range here {
			all = append(all, place{claim: c, namespace: ns.Name, labels: ns.Labels, all: byAccount[c.account()]})
		}
	}
	return all
}

// ofProvider are the places of one provider.
func ofProvider(all []place, p *v1alpha1.IdentityProvider) []place {
	return slices.DeleteFunc(all, func(pl place) bool { return pl.provider.UID != p.UID })
}
