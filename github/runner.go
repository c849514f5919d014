// SPDX-License-Identifier: Apache-2.0

package github

import "github.com/runner-identity/runner-identity/identity"

// DefaultGroup is the runner group that every scope has.
const DefaultGroup = "Default"

// defaultGroupID is the id of DefaultGroup, everywhere. Repositories have no other group.
const defaultGroupID = 1

// maxName is how long GitHub lets the name of a runner be.
const maxName = 64

// A Registration asks for one ephemeral runner.
type Registration struct {
	// Name is the runner's name, unique in its scope, of 64 characters at most.
	Name string
	// Labels are what jobs ask for with runs-on. The label self-hosted is always added: a JIT configuration has only the
	// labels that it was asked for.
	Labels []string
	// Group is the name of a runner group. Default: DefaultGroup.
	Group string
	// WorkDir is the runner's work folder. Default: _work.
	WorkDir string
}

// A Runner is what GitHub knows of a runner.
type Runner struct {
	ID     int64
	Name   string
	Labels []string
	// Online is whether the runner is connected, Busy whether it runs a job.
	Online, Busy bool
	// JITConfig is what the runner program starts with. Only Register gives it.
	JITConfig identity.Secret
}
