// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kjson "sigs.k8s.io/json"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// volumes adds the plan's volumes that the pod does not have, and notes those whose names it uses for something else.
func (a *application) volumes() error {
	have, err := list(a.spec, "spec", "volumes", "name")
	if err != nil {
		return err
	}
	var add []any
	a.foreign = map[string]bool{}
	for _, v := range a.plan.Volumes {
		raw, err := rawVolume(v)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(have, func(o Object) bool { return o["name"] == v.Name })
		switch {
		case i < 0:
			add = append(add, raw)
		case !sameVolume(have[i], v):
			a.foreign[v.Name] = true
			a.conflict(Conflict{Field: "spec.volumes", Key: v.Name, Want: described(raw), Have: described(have[i])})
		}
	}
	a.spec = appended(a.spec, "volumes", add)
	return nil
}

func rawVolume(v v1alpha1.Volume) (Object, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("volume %q: %w", v.Name, err)
	}
	var raw Object
	return raw, json.Unmarshal(b, &raw)
}

// sameVolume reports whether a pod's volume is what the plan's would be, defaults filled in or not. How long the pod wants its
// tokens to live is the pod's own choice. Whatever we cannot read, such as a field that is newer than our library, is not the same.
func sameVolume(raw Object, v v1alpha1.Volume) bool {
	b, err := json.Marshal(raw)
	if err != nil {
		return false
	}
	var have v1alpha1.Volume
	if unknown, err := kjson.UnmarshalStrict(b, &have); err != nil || len(unknown) > 0 {
		return false
	}
	return equality.Semantic.DeepEqual(normal(have), normal(v))
}

// normal is a volume with the API server's defaults filled in and without token lifetimes.
func normal(v v1alpha1.Volume) v1alpha1.Volume {
	v = *v.DeepCopy()
	if v.Projected == nil {
		return v
	}
	if v.Projected.DefaultMode == nil {
		v.Projected.DefaultMode = new(corev1.ProjectedVolumeSourceDefaultMode)
	}
	for _, s := range v.Projected.Sources {
		if s.ServiceAccountToken != nil {
			s.ServiceAccountToken.ExpirationSeconds = nil
		}
		if s.DownwardAPI != nil {
			normalItems(s.DownwardAPI.Items)
		}
	}
	return v
}

func normalItems(items []corev1.DownwardAPIVolumeFile) {
	for _, item := range items {
		if item.FieldRef != nil && item.FieldRef.APIVersion == "" {
			item.FieldRef.APIVersion = "v1"
		}
	}
}

// described says what a volume is, for a conflict: its source, and what is in it where that cannot be a secret.
func described(raw Object) string {
	var sources []string
	for _, kind := range slices.Sorted(maps.Keys(raw)) {
		switch kind {
		case "name":
		case "projected", "emptyDir":
			b, _ := json.Marshal(raw[kind]) // what cannot be marshalled is not shown
			sources = append(sources, kind+": "+bounded(string(b)))
		default:
			sources = append(sources, kind)
		}
	}
	return "the source " + strings.Join(sources, ", ")
}
