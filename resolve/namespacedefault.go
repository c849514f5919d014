// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// Namespace stands for a namespace's name in the values of a namespace default.
const Namespace = "${namespace}"

// defaultAccount is the account of pods that name none.
const defaultAccount = "default"

// NamespaceDefault is the RunnerIdentity by which a mapping of an IdentityProvider gives a namespace's account its identity: it
// has no selector, so no runner has it, and it targets the account alone, so no pod is changed for it. The caller sets the owner.
// An error is an Invalid one and names the setting, the value and what would be right.
func NamespaceDefault(p *v1alpha1.IdentityProvider, m v1alpha1.NamespaceDefault, namespace string) (*v1alpha1.RunnerIdentity, error) {
	account := MappedAccount(m)
	asked := v1alpha1.Identity{
		// Both, so that whoever names the accounts of an identity names no other; the job's is not in use.
		ServiceAccounts: v1alpha1.ServiceAccountNames{Runner: account, Job: account},
		Targets:         []v1alpha1.IdentityTarget{v1alpha1.TargetRunner},
		Delivery:        v1alpha1.DeliveryAdmission,
	}
	for i, host := range m.Identity.Registries {
		filled, err := fill(host, namespace)
		if err != nil {
			return nil, identity.Errorf(identity.Invalid, "registries[%d]: %w", i, err)
		}
		asked.Registries = append(asked.Registries, filled)
	}
	settings, err := fillAll(m.Identity.Settings, namespace)
	if err != nil {
		return nil, err
	}
	if err := setMember(&asked, p.Spec.Plugin, settings); err != nil {
		return nil, err
	}
	return &v1alpha1.RunnerIdentity{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "RunnerIdentity"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Name:      NamespaceDefaultName(p.Name, m.Name),
			Labels:    map[string]string{v1alpha1.LabelNamespaceDefault: m.Name},
		},
		Spec: v1alpha1.RunnerIdentitySpec{IdentityProvider: p.Name, Identity: asked},
	}, nil
}

// MappedAccount is the account that a mapping is for.
func MappedAccount(m v1alpha1.NamespaceDefault) string {
	return cmp.Or(m.ServiceAccount, defaultAccount)
}

// maxName is the longest name of a RunnerIdentity: it is a label's value.
const maxName = 63

// NamespaceDefaultName is the name of the RunnerIdentities of a mapping: <mapping>.<provider>. A mapping's name has no dot, so no
// two are the same; one that would be too long is cut, and ends in a hash.
func NamespaceDefaultName(provider, mapping string) string {
	name := mapping + "." + provider
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := "-" + hex.EncodeToString(sum[:4])
	return strings.TrimRight(name[:maxName-len(end)], ".-") + end
}

// Bound are the accounts that an identity binds.
func Bound(ri *v1alpha1.RunnerIdentity) []string {
	spec := ri.Spec.Identity
	return identity.Request{Accounts: Accounts(ri.Name, spec.ServiceAccounts), Targets: targets(spec.Targets)}.Bound()
}

// fill puts a namespace's name into a value. Whatever else looks like a placeholder is a slip of the pen: taken as it is, it
// would be a part of a principal's name.
func fill(value, namespace string) (string, error) {
	filled := strings.ReplaceAll(value, Namespace, namespace)
	if strings.Contains(filled, "${") {
		return "", identity.Errorf(identity.Invalid, "%q has a placeholder other than %s, the only one", value, Namespace)
	}
	return filled, nil
}

func fillAll(values map[string]string, namespace string) (map[string]string, error) {
	filled := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		value, err := fill(values[key], namespace)
		if err != nil {
			return nil, identity.Errorf(identity.Invalid, "settings.%s: %w", key, err)
		}
		filled[key] = value
	}
	return filled, nil
}

// setMember puts settings that are all texts into the member of the settings union that is the plug-in's.
func setMember(i *v1alpha1.Identity, plugin string, settings map[string]string) error {
	member, typed := map[string]any{"aws": &i.AWS, "gcp": &i.GCP}[plugin]
	if len(settings) == 0 {
		return nil
	}
	if !typed {
		i.Parameters = settings
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if err := setField(member, key, settings[key]); err != nil {
			return err
		}
	}
	return nil
}

// setField sets one field from a text: as it is if the field is one, else as JSON, for switches and lists.
func setField(member any, key, value string) error {
	quoted, err := json.Marshal(value)
	if err != nil {
		return identity.Errorf(identity.Invalid, "settings.%s: %w", key, err)
	}
	// A text is tried first: a name such as 123 or true is one.
	for _, candidate := range []json.RawMessage{quoted, json.RawMessage(value)} {
		var object []byte
		if object, err = json.Marshal(map[string]json.RawMessage{key: candidate}); err != nil {
			continue
		}
		if err = identity.Settings(object).Decode(member); err == nil {
			return nil
		}
	}
	return identity.Errorf(identity.Invalid, "settings.%s: %q is not a value of a setting of that name: a text as it is, true or false, or a list such as [\"a\", \"b\"]", key, value)
}
