// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"

	"github.com/runner-identity/runner-identity/testbed/process"
)

// dirPrefix begins the names of temporary directories.
const dirPrefix = "runner-identity-cluster-"

// makeDir makes the cluster's directory and locks it. Data of an earlier cluster in it goes: a cluster starts empty.
func (c *Cluster) makeDir(path string) (err error) {
	c.home, err = process.OpenDir(path, dirPrefix, func(dir string) error { return os.RemoveAll(filepath.Join(dir, "etcd")) })
	if err == nil {
		c.Dir = c.home.Path
	}
	return err
}
