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
			u.mount(t.Volume, path.Dir(t.Path))
		}
	}
	for _, d := range plan.Dirs {
		if d.For.Has(u.target) {
			u.once(u.files, "directory", d.Path)
			u.mount(d.Volume, d.Path)
		}
	}
	for _, w := range plan.Waits {
		if w.For.Has(u.target) {
			u.once(u.files, "wait", w.Name)
		}
	}
}

func (u unique) once(seen map[string]bool, kind, name string) {
	u.report.check(!seen[name], RuleUnique, fmt.Sprintf("%s %s is there twice for %s", kind, name, u.target))
	seen[name] = true
}

// mount checks that a volume has one directory and a directory one volume.
func (u unique) mount(volume, dir string) {
	if volume == "" {
		return
	}
	other, ok := u.dirOf[volume]
	u.report.check(!ok || other == dir, RuleUnique, fmt.Sprintf("volume %s is mounted at %s and at %s for %s", volume, other, dir, u.target))
	mounted, ok := u.volumeOf[dir]
	u.report.check(!ok || mounted == volume, RuleUnique, fmt.Sprintf("volumes %s and %s are both mounted at %s for %s", mounted, volume, dir, u.target))
	u.dirOf[volume], u.volumeOf[dir] = dir, volume
}
