// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"slices"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// initContainers puts the plan's init containers, in so far as the pod does not have them, before all others.
func (a *application) initContainers() error {
	have, err := list(a.spec, "spec", "initContainers", "name")
	if err != nil {
		return err
	}
	var add []any
	for _, c := range a.plan.InitContainers {
		i := slices.IndexFunc(have, func(o Object) bool { return o["name"] == c.Name })
		switch {
		case i < 0:
			add = append(add, rawInit(c))
		case !sameInit(have[i], c):
			a.conflict(Conflict{
				Field: "spec.initContainers", Key: c.Name,
				Want: bounded(fmt.Sprintf("image %q, args %q", c.Image, c.Args)),
				Have: bounded(fmt.Sprintf("image %q, args %q", have[i]["image"], have[i]["args"])),
			})
		}
	}
	if len(add) > 0 {
		all, _ := a.spec["initContainers"].([]any)
		a.spec = set(a.spec, "initContainers", slices.Concat(add, all))
	}
	return nil
}

// rawInit is an init container that a namespace with restricted pods and a quota takes.
func rawInit(c v1alpha1.InitContainer) Object {
	args := make([]any, 0, len(c.Args))
	for _, arg := range c.Args {
		args = append(args, arg)
	}
	small := func() Object { return Object{"cpu": "50m", "memory": "64Mi"} }
	return Object{
		"name": c.Name, "image": c.Image, "args": args,
		"resources": Object{"requests": small(), "limits": small()},
		"securityContext": Object{
			"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true, "runAsUser": int64(65532),
			"capabilities": Object{"drop": []any{"ALL"}}, "seccompProfile": Object{"type": "RuntimeDefault"},
		},
	}
}

// sameInit looks at what an init container does, and not at what the API server or a webhook fills in around it.
func sameInit(have Object, c v1alpha1.InitContainer) bool {
	args, ok := have["args"].([]any)
	if have["image"] != c.Image || ok != (len(c.Args) > 0) || len(args) != len(c.Args) {
		return false
	}
	for i := range args {
		if args[i] != c.Args[i] {
			return false
		}
	}
	return true
}
