// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"maps"
	"slices"
	"strings"
)

// environment is variables by name.
type environment map[string]string

func parseEnviron(environ []string) environment {
	env := environment{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return env
}

// over is an environment whose variables win over those of base.
func (e environment) over(base environment) environment {
	all := maps.Clone(base)
	maps.Copy(all, e)
	return all
}

func (e environment) environ() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		all = append(all, name+"="+e[name])
	}
	return all
}

func (e environment) get(name string) string { return e[name] }
