// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// defaultAccount is what the API server has filled in, by the time that an admission plug-in sees a pod, if the pod names no account.
const defaultAccount = "default"

// pullSecrets adds the plan's pull secrets that the pod does not have yet.
func (a *application) pullSecrets() error {
	have, err := list(a.spec, "spec", "imagePullSecrets", "name")
	if err != nil {
		return err
	}
	var add []any
	for _, s := range a.plan.ImagePullSecrets {
		named := func(o Object) bool { return o["name"] == s.Name }
		if !slices.ContainsFunc(have, named) {
			have = append(have, Object{"name": s.Name})
			add = append(add, have[len(have)-1])
		}
	}
	a.spec = appended(a.spec, "imagePullSecrets", add)
	return nil
}

// account sets the account. It reports whether the pod has another one.
func (a *application) account() (other bool, err error) {
	have, err := account(a.spec)
	if err != nil || a.plan.ServiceAccountName == "" || have == a.plan.ServiceAccountName {
		return false, err
	}
	if have != "" && have != defaultAccount {
		a.conflict(accountConflict(have, a.plan))
		return true, nil
	}
	a.spec = set(a.spec, "serviceAccountName", a.plan.ServiceAccountName)
	if _, legacy := a.spec["serviceAccount"]; legacy {
		// The API server keeps the old name of the field equal to the new one; so do we, for readers of the old one.
		a.spec = set(a.spec, "serviceAccount", a.plan.ServiceAccountName)
	}
	return false, nil
}

// account is the account that a pod names, by the field's present or its old name.
func account(spec Object) (string, error) {
	name, err := text(spec, "spec", "serviceAccountName")
	if err != nil {
		return "", err
	}
	legacy, err := text(spec, "spec", "serviceAccount")
	return cmp.Or(name, legacy), err
}

func accountConflict(have string, plan v1alpha1.PodPlan) Conflict {
	return Conflict{Field: "spec.serviceAccountName", Want: shown(plan.ServiceAccountName), Have: shown(have)}
}

// metadata merges labels, annotations and the node selector.
func (a *application) metadata() error {
	meta, err := object(a.pod, "", "metadata")
	if err != nil {
		return err
	}
	labelled, err := a.mergeMap(meta, "metadata", "labels", a.plan.Labels)
	if err != nil {
		return err
	}
	annotated, err := a.mergeMap(labelled, "metadata", "annotations", a.plan.Annotations)
	if err != nil {
		return err
	}
	if len(a.plan.Labels)+len(a.plan.Annotations) > 0 {
		a.pod = set(a.pod, "metadata", annotated)
	}
	a.spec, err = a.mergeMap(a.spec, "spec", "nodeSelector", a.plan.NodeSelector)
	return err
}

// mergeMap returns o with values in the map at a key, in so far as it has no other values for them.
func (a *application) mergeMap(o Object, path, key string, values map[string]string) (Object, error) {
	have, err := object(o, path, key)
	if err != nil {
		return nil, err
	}
	add := Object{}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		old, taken := have[k]
		switch {
		case !taken:
			add[k] = values[k]
		case old != values[k]:
			a.conflict(Conflict{Field: path + "." + key, Key: k, Want: shown(values[k]), Have: shown(fmt.Sprint(old))})
		}
	}
	if len(add) == 0 {
		return o, nil
	}
	maps.Copy(add, have)
	return set(o, key, add), nil
}
