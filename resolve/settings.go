// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// settings are the plug-in's: the admin's defaults with the user's values over them, field by field.
func settings(in Input, plugin string) (identity.Settings, error) {
	asked := userMembers(in.Identity.Spec.Identity)
	if err := onlyMember(asked, plugin); err != nil {
		return nil, err
	}
	var defaults map[string]any
	if in.Provider != nil {
		defaults = adminMembers(in.Provider.Spec)
	}
	merged := map[string]json.RawMessage{}
	for _, layer := range []map[string]any{defaults, asked} {
		if err := overlay(merged, layer[memberOf(layer, plugin)]); err != nil {
			return nil, err
		}
	}
	b, err := json.Marshal(merged)
	if err != nil {
		return nil, identity.Errorf(identity.Invalid, "settings: %w", err)
	}
	return b, nil
}

// parameters is the member for plug-ins that the API has no typed member for.
const parameters = "parameters"

// userMembers are the members of the settings union, by plug-in. A typed nil marks a member that is not set.
func userMembers(i v1alpha1.Identity) map[string]any {
	return map[string]any{"aws": i.AWS, "gcp": i.GCP, parameters: i.Parameters}
}

// adminMembers are the same of an IdentityProvider.
func adminMembers(p v1alpha1.IdentityProviderSpec) map[string]any {
	return map[string]any{"aws": p.AWS, "gcp": p.GCP, parameters: p.Parameters}
}

func memberOf(members map[string]any, plugin string) string {
	if _, ok := members[plugin]; ok {
		return plugin
	}
	return parameters
}

// onlyMember refuses settings that are for another plug-in: they would be ignored without a word.
func onlyMember(members map[string]any, plugin string) error {
	right := memberOf(members, plugin)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		b, err := json.Marshal(members[name])
		if err != nil {
			return identity.Errorf(identity.Invalid, "identity.%s: %w", name, err)
		}
		if name != right && string(b) != "null" {
			return identity.Errorf(identity.Invalid, "identity.%s: is set, but the provider's plug-in is %q, whose settings are in identity.%s", name, plugin, right)
		}
	}
	return nil
}

// overlay puts a layer's fields over those that are there.
func overlay(onto map[string]json.RawMessage, layer any) error {
	b, err := json.Marshal(layer)
	if err != nil {
		return identity.Errorf(identity.Invalid, "settings: %w", err)
	}
	if err := json.Unmarshal(b, &onto); err != nil {
		return identity.Errorf(identity.Invalid, "settings: %w", err)
	}
	return nil
}
