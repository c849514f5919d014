// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/runner-identity/runner-identity/testbed/process"
)

const (
	cgroups = "/sys/fs/cgroup"
	// procs is a file that each cgroup has.
	procs = "cgroup.procs"
	// lockTries is how often a cgroup is made anew that others have removed.
	lockTries = 5
)

// controllers are those that a kubelet wants in the second version of cgroups.
const controllers = "+cpuset +cpu +io +memory +pids"

// cleanTimeout is how long the kernel may take to let go of the cgroups of processes that it has killed.
const cleanTimeout = 10 * time.Second

// cgroup is the name of the cgroup of a node's pods. It is the node's own by the path of its directory.
func cgroup(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return prefix + hex.EncodeToString(sum[:6])
}

// makeCgroup makes a cgroup: in all hierarchies with the first version, in the only one with the second. What it returns is to be
// closed once the cgroup's owner has no use for it: until then sweepCgroups leaves it alone.
func makeCgroup(name string) (locks []*os.File, err error) {
	roots := []string{filepath.Join(cgroups, procs)}
	if _, err := os.Stat(filepath.Join(cgroups, "cgroup.controllers")); err == nil {
		// Most machines have done so. If one will not, the kubelet says which controller it misses.
		_ = os.WriteFile(filepath.Join(cgroups, "cgroup.subtree_control"), []byte(controllers), 0o644)
	} else if roots, err = filepath.Glob(filepath.Join(cgroups, "*", procs)); err != nil {
		return nil, err
	}
	for _, root := range roots {
		lock, err := lockCgroup(filepath.Join(filepath.Dir(root), name))
		if err != nil {
			return locks, err
		}
		locks = append(locks, lock)
	}
	return locks, nil
}

// lockCgroup makes a directory and locks it. Before it is locked, another process may take it for one that a dead owner left.
func lockCgroup(dir string) (lock *os.File, err error) {
	for range lockTries {
		if err = os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		if lock, err = process.TryLock(filepath.Join(dir, procs)); err != nil {
			continue
		}
		if _, err = os.Stat(dir); err == nil {
			return lock, nil
		}
		_ = lock.Close()
	}
	return nil, fmt.Errorf("lock cgroup %s: %w", dir, err)
}

// sweepCgroups removes those that nodes have left whose parents died before they could remove them, wherever the nodes' directories
// were. Failing to is no reason not to start.
func sweepCgroups() {
	for _, pattern := range []string{"", "*"} {
		found, _ := filepath.Glob(filepath.Join(cgroups, pattern, prefix+"*"))
		for _, dir := range found {
			if lock, err := process.TryLock(filepath.Join(dir, procs)); err == nil {
				_ = removeTree(dir)
				_ = lock.Close()
			}
		}
	}
}

func waitForCgroups(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanTimeout)
	defer cancel()
	var last error
	err := wait.PollUntilContextCancel(ctx, time.Second/20, true, func(context.Context) (bool, error) {
		last = removeCgroups(name)
		return last == nil, ignoreBusy(last)
	})
	if err != nil {
		return cmp.Or(last, err)
	}
	return nil
}

// removeCgroups removes a cgroup and those in it from all hierarchies, of which there are many with the first version of
// cgroups and one with the second.
func removeCgroups(name string) error {
	var errs []error
	for _, pattern := range []string{"", "*"} {
		found, _ := filepath.Glob(filepath.Join(cgroups, pattern, name))
		for _, dir := range found {
			errs = append(errs, removeTree(dir))
		}
	}
	return errors.Join(errs...)
}

// removeTree removes directories only: the files in a cgroup go with it, and cannot be removed.
func removeTree(root string) error {
	var dirs []string
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	var errs []error
	for _, dir := range slices.Backward(dirs) {
		if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, &fs.PathError{Op: "rmdir", Path: dir, Err: err})
		}
	}
	return errors.Join(errs...)
}

func ignoreBusy(err error) error {
	if errors.Is(err, syscall.EBUSY) {
		return nil
	}
	return err
}
