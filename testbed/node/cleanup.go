// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"os"
	"path/filepath"
)

// prefix begins the names of a node's temporary directory and of its cgroup.
const prefix = "runner-identity-node-"

// cleanUp removes what the kernel does not when a node ends: the cgroups of its pods and what it kept on disk, logs excepted.
func cleanUp(dir string) error {
	errs := []error{waitForCgroups(cgroup(dir))}
	for _, name := range kept {
		errs = append(errs, os.RemoveAll(filepath.Join(dir, name)))
	}
	return errors.Join(errs...)
}
