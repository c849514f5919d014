// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"errors"
	"fmt"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// Apply puts a plan into a pod: variables and mounts into the named containers, regular, init and native sidecars alike, and into
// no other; ephemeral containers never. The plan's init containers come first, so that the pod's own find the identity too. It returns a new pod and shares with the old one what it does not change. Applied to its
// own result it changes nothing.
//
// The pod's own value always wins: the same value is fine, a different one is a Conflict, and that piece of the plan is left
// out. An error is for a pod that is malformed, never for a conflict. Three conflicts leave out more than themselves:
//   - A Windows pod is returned as it is.
//   - A pod with an account of its own gets the pull secrets only: tokens are tokens of the account, and variables of one identity
//     would break that of another.
//   - A volume of the pod that has the name of ours but another source is not mounted. Variables that point into it stay: a file
//     that is not there fails loudly, where SDKs without the variable would quietly take the node's identity.
//
// Apply never touches a securityContext, and never sets fsGroup, the restart policy, or the order of containers. The kubelet
// makes a projected token 0600 for the user if all containers have the same runAsUser, 0640 for the group if the pod has an
// fsGroup, and else 0644, readable by all. So an fsGroup of ours could only take the token away from somebody: from a container of
// another user, or from a container that dind runs with a bind mount. It also changes the owner of the user's other volumes. (Group
// 65534, which manifests on the net set for this, is from before Kubernetes 1.19, when tokens were always 0600 root.)
func Apply(pod Object, plan v1alpha1.PodPlan, containers ...string) (Object, []Conflict, error) {
	applied, conflicts, err := apply(pod, plan, containers...)
	if err != nil {
		return nil, nil, fmt.Errorf("malformed pod: %w", err)
	}
	return applied, conflicts, nil
}

func apply(pod Object, plan v1alpha1.PodPlan, containers ...string) (Object, []Conflict, error) {
	spec, err := object(pod, "", "spec")
	if err != nil {
		return nil, nil, err
	}
	if spec == nil {
		return nil, nil, errors.New("spec: is missing")
	}
	if windows, err := onWindows(spec); err != nil || windows != nil {
		return pod, windows, err
	}
	a := application{pod: pod, spec: spec, plan: plan, containers: containers}
	err = a.run()
	return set(a.pod, "spec", a.spec), a.conflicts, err
}

// application is one run of Apply. Its objects are replaced, never written to.
type application struct {
	pod, spec  Object
	plan       v1alpha1.PodPlan
	containers []string
	// foreign are names of the plan's volumes that the pod uses for something else; set by volumes.
	foreign   map[string]bool
	conflicts []Conflict
}

func (a *application) run() error {
	if err := a.pullSecrets(); err != nil {
		return err
	}
	if other, err := a.account(); err != nil || other {
		return err
	}
	for _, phase := range []func() error{a.metadata, a.volumes, a.initContainers, a.allContainers} {
		if err := phase(); err != nil {
			return err
		}
	}
	return nil
}

func (a *application) conflict(c Conflict) { a.conflicts = append(a.conflicts, c) }

// onWindows is a conflict if the pod says that it is for Windows, in one of the three ways to say so.
func onWindows(spec Object) ([]Conflict, error) {
	system, err := object(spec, "spec", "os")
	if err != nil {
		return nil, err
	}
	selector, err := object(spec, "spec", "nodeSelector")
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		in         Object
		field, key string
	}{
		{system, "spec.os", "name"},
		{selector, "spec.nodeSelector", "kubernetes.io/os"},
		{selector, "spec.nodeSelector", "beta.kubernetes.io/os"},
	} {
		if c.in[c.key] == "windows" {
			return []Conflict{{Field: c.field, Key: c.key, Want: `"linux": Windows is not supported`, Have: `"windows"`}}, nil
		}
	}
	return nil, nil
}
