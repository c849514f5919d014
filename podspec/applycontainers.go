// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"path"
	"slices"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// allContainers gives the named containers their variables and mounts.
func (a *application) allContainers() error {
	seen := map[string]bool{}
	for _, field := range []string{"initContainers", "containers"} {
		if err := a.containersAt(field, seen); err != nil {
			return err
		}
	}
	if len(a.plan.Env)+len(a.plan.VolumeMounts) == 0 {
		return nil
	}
	for _, name := range a.containers {
		if !seen[name] {
			a.conflict(Conflict{Field: "spec.containers", Key: name, Want: "a container of this name", Have: "missing"})
		}
	}
	return nil
}

// containersAt does so for one list of containers, and notes the names it saw.
func (a *application) containersAt(field string, seen map[string]bool) error {
	have, err := list(a.spec, "spec", field, "name")
	if err != nil {
		return err
	}
	changed := make([]any, len(have))
	for i, c := range have {
		name, _ := c["name"].(string)
		if slices.Contains(a.containers, name) {
			seen[name] = true
			if c, err = a.container(c, fmt.Sprintf("spec.%s[%d]", field, i), name); err != nil {
				return err
			}
		}
		changed[i] = c
	}
	if len(have) > 0 {
		a.spec = set(a.spec, field, changed)
	}
	return nil
}

func (a *application) container(c Object, where, name string) (Object, error) {
	env, err := list(c, where, "env", "name")
	if err != nil {
		return nil, err
	}
	mounts, err := list(c, where, "volumeMounts", "mountPath")
	if err != nil {
		return nil, err
	}
	c = appended(c, "env", a.env(env, name))
	return appended(c, "volumeMounts", a.mounts(mounts, name)), nil
}

// env are the plan's variables that a container does not have. Of several of one name the last one counts, as in the kubelet.
// What envFrom brings is not known here; variables win over it.
func (a *application) env(have []Object, container string) []any {
	var add []any
	last := map[string]Object{}
	for _, e := range have {
		if name, ok := e["name"].(string); ok {
			last[name] = e
		}
	}
	for _, e := range a.plan.Env {
		old, taken := last[e.Name]
		if !taken {
			add = append(add, Object{"name": e.Name, "value": e.Value})
		} else if value, ok := literalValue(old); !ok || value != e.Value {
			a.conflict(Conflict{Container: container, Field: "env", Key: e.Name, Want: shown(e.Value), Have: describedEnv(old)})
		}
	}
	return add
}

// literalValue is a variable's value, if it has one of its own. No value is an empty one.
func literalValue(e Object) (string, bool) {
	if e["valueFrom"] != nil {
		return "", false
	}
	if e["value"] == nil {
		return "", true
	}
	value, ok := e["value"].(string)
	return value, ok
}

func describedEnv(e Object) string {
	if value, ok := literalValue(e); ok {
		return shown(value)
	}
	return "set by valueFrom"
}

// mounts are the plan's mounts that a container does not have. Only the same path is a conflict: a mount below or above another
// one is the pod's own affair, and Kubernetes mounts them in the order of their depth.
func (a *application) mounts(have []Object, container string) []any {
	var add []any
	for _, m := range a.plan.VolumeMounts {
		if a.foreign[m.Name] {
			continue
		}
		i := slices.IndexFunc(have, func(o Object) bool { return mountPath(o) == path.Clean(m.MountPath) })
		switch {
		case i < 0:
			add = append(add, rawMount(m))
		case !sameMount(have[i], m):
			a.conflict(Conflict{
				Container: container, Field: "volumeMounts", Key: m.MountPath,
				Want: "the volume " + shown(m.Name), Have: describedMount(have[i]),
			})
		}
	}
	return add
}

func rawMount(m v1alpha1.VolumeMount) Object {
	raw := Object{"name": m.Name, "mountPath": m.MountPath}
	if m.ReadOnly {
		raw["readOnly"] = true
	}
	return raw
}

func mountPath(mount Object) string {
	p, _ := mount["mountPath"].(string)
	return path.Clean(p)
}

// sameMount reports whether a container's mount at the path of ours serves as well: all of the same volume, and writable if
// ours is. That it may be writable where ours is not is no matter: what the kubelet projects is read-only anyway.
func sameMount(raw Object, m v1alpha1.VolumeMount) bool {
	writable := raw["readOnly"] != true
	return raw["name"] == m.Name && !partial(raw) && (writable || m.ReadOnly)
}

// partial reports whether a mount is of a part of its volume.
func partial(mount Object) bool {
	return !slices.Contains([]any{nil, ""}, mount["subPath"]) || !slices.Contains([]any{nil, ""}, mount["subPathExpr"])
}

func describedMount(raw Object) string {
	described := "a mount of the volume " + shown(fmt.Sprint(raw["name"]))
	if partial(raw) {
		return described + ", of a part of it"
	}
	if raw["readOnly"] == true {
		return described + ", read-only"
	}
	return described
}
