// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/resolve"
)

// A claim is one mapping of one provider, ready to be asked.
type claim struct {
	provider *v1alpha1.IdentityProvider
	mapping  v1alpha1.NamespaceDefault
	selector labels.Selector
}

func (c claim) String() string {
	return fmt.Sprintf("mapping %q of IdentityProvider %q", c.mapping.Name, c.provider.Name)
}

func (c claim) account() string { return resolve.MappedAccount(c.mapping) }

// claims are the mappings of all providers, the oldest provider's first, each provider's in its own order. Those of a provider
// that is going, and those whose selector is refused, claim nothing.
func claims(providers []v1alpha1.IdentityProvider) []claim {
	sorted := slices.SortedFunc(slices.Values(providers), func(a, b v1alpha1.IdentityProvider) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	var all []claim
	for _, p := range sorted {
		for _, m := range p.Spec.NamespaceDefaults {
			selector, err := optIn(m.Selector)
			if err == nil && p.DeletionTimestamp.IsZero() {
				all = append(all, claim{provider: &p, mapping: m, selector: selector})
			}
		}
	}
	return all
}

// everyNamespace are labels of a namespace for which nobody has done anything. No namespace has that name.
var everyNamespace = labels.Set{corev1.LabelMetadataName: "?"}

// optIn is the selector of a mapping. It must not match a namespace on which nobody has put a label: whoever may create pods in
// a namespace with a default has its identity, so that is something to decide, namespace by namespace.
func optIn(s metav1.LabelSelector) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return nil, fmt.Errorf("selector: %w", err)
	}
	if selector.Matches(everyNamespace) {
		return nil, fmt.Errorf("selector: %q matches namespaces that have no label of their own; select by a label that an admin puts on a namespace, such as %s/default: \"true\"",
			metav1.FormatLabelSelector(&s), v1alpha1.Group)
	}
	return selector, nil
}
