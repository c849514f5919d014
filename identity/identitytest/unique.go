// SPDX-License-Identifier: Apache-2.0

package identitytest

import (
	"fmt"
	"path"

	"github.com/runner-identity/runner-identity/identity"
)

// checkUnique looks at each target's share of a plan by itself.
func checkUnique(f *report, plan identity.Plan) {
	for _, target := range []identity.Target{identity.Runner, identity.Job} {
		u := unique{report: f, target: target, env: map[string]bool{}, files: map[string]bool{}, volumeOf: map[string]string{}, dirOf: map[string]string{}}
		u.check(plan)
	}
}

// unique is what was seen of one target.
type unique struct {
	*report
	target     identity.Target
	env, files map[string]bool
	// volumeOf is the volume of a mounted directory, dirOf the directory of a mounted volume.
	volumeOf, dirOf map[string]string
}

func (u unique) check(plan identity.Plan) {
	for _, e := range plan.Env {
		if e.For.Has(u.target) {
			u.once(u.env, "variable", e.Name)
		}
	}
	for _, file := range plan.Files {
		if file.For.Has(u.target) {
			u.once(u.files, "file", file.Path)
		}
	}
	for _, t := range plan.Tokens {
		if t.For.Has(u.target) {
			u.once(u.files, "file", t.Path)
			u.mount(t)
		}
	}
}

func (u unique) once(seen map[string]bool, kind, name string) {
	u.report.check(!seen[name], RuleUnique, fmt.Sprintf("%s %s is there twice for %s", kind, name, u.target))
	seen[name] = true
}

// mount checks that a volume has one directory and a directory one volume.
func (u unique) mount(t identity.Token) {
	if t.Volume == "" {
		return
	}
	dir := path.Dir(t.Path)
	other, ok := u.dirOf[t.Volume]
	u.report.check(!ok || other == dir, RuleUnique, fmt.Sprintf("volume %s is mounted at %s and at %s for %s", t.Volume, other, dir, u.target))
	volume, ok := u.volumeOf[dir]
	u.report.check(!ok || volume == t.Volume, RuleUnique, fmt.Sprintf("volumes %s and %s are both mounted at %s for %s", volume, t.Volume, dir, u.target))
	u.dirOf[t.Volume], u.volumeOf[dir] = dir, t.Volume
}
