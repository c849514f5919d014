// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// CheckProvider says what is wrong with an IdentityProvider before any identity asks for it: a plug-in that this build does not
// have, a selector that is none, defaults that no identity can make right. What identities have to add is not missed.
func CheckProvider(providers identity.Set, p *v1alpha1.IdentityProvider) error {
	provider, err := providers.Provider(p.Spec.Plugin)
	if err != nil {
		return identity.Errorf(ProviderNotFound, "plugin: %w", err)
	}
	if _, err := metav1.LabelSelectorAsSelector(p.Spec.AllowedNamespaces); err != nil {
		return identity.Errorf(identity.Invalid, "allowedNamespaces: %w", err)
	}
	members := adminMembers(p.Spec)
	right := memberOf(members, p.Spec.Plugin)
	if right != parameters && len(p.Spec.Parameters) > 0 {
		return identity.Errorf(identity.Invalid, "parameters: are set, but the plug-in is %q, whose settings are in %s", p.Spec.Plugin, right)
	}
	return wrongDefaults(provider, members[right])
}

// wrongDefaults asks the plug-in. A problem of a field that the admin did not set may be cured by whoever sets it.
func wrongDefaults(provider identity.Provider, defaults any) error {
	v, ok := identity.As[identity.Validator](provider)
	if !ok {
		return nil
	}
	set := map[string]json.RawMessage{}
	if err := overlay(set, defaults); err != nil {
		return err
	}
	settings, err := json.Marshal(set)
	if err != nil {
		return identity.Errorf(identity.Invalid, "settings: %w", err)
	}
	// A name that all clouds take, for what is made of it.
	problems := v.Validate(identity.Request{
		Namespace: defaultAccount, Name: defaultAccount, Targets: identity.Runner, Settings: settings,
		Accounts: identity.Accounts{Runner: defaultAccount, Job: defaultAccount},
	})
	return identity.Problems(slices.DeleteFunc(problems, func(p identity.Problem) bool { return !isOf(p, slices.Collect(maps.Keys(set))) }))
}

// isOf reports whether a problem is one of some fields, or of the settings as a whole.
func isOf(p identity.Problem, fields []string) bool {
	_, field, below := strings.Cut(p.Field, ".")
	field, _, _ = strings.Cut(field, ".")
	field, _, _ = strings.Cut(field, "[")
	return !below || slices.Contains(fields, field)
}
