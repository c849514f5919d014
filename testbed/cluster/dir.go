// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"path/filepath"
)

// dirPrefix begins the names of temporary directories.
const dirPrefix = "runner-identity-cluster-"

// makeDir makes the cluster's directory and locks it. Data of an earlier cluster in it goes: a cluster starts empty.
func (c *Cluster) makeDir(dir string) (err error) {
	if c.temporary = dir == ""; c.temporary {
		sweep()
		dir, err = os.MkdirTemp("", dirPrefix)
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	if c.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if c.lock, err = tryLock(c.path("lock")); err != nil {
		return fmt.Errorf("directory %s is in use by another cluster: choose another one: %w", dir, err)
	}
	return os.RemoveAll(c.path("etcd"))
}

// sweep removes the directories of processes that died before they could. Failing to is no reason not to start.
func sweep() {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*", "lock"))
	for _, path := range left {
		if lock, err := tryLock(path); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
			_ = lock.Close()
		}
	}
}
