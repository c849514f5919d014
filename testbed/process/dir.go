// SPDX-License-Identifier: Apache-2.0

package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const lockFile = "lock"

// A Dir is a directory that belongs to one living process.
type Dir struct {
	// Path is absolute.
	Path string

	lock      *os.File
	temporary bool
}

// OpenDir makes the directory if need be and locks it. If path is empty it is a temporary one, whose name begins with prefix,
// and those of processes that died before they could remove theirs are removed. left is called for each of them before, and
// for path: it undoes what else its dead owner may have left.
func OpenDir(path, prefix string, left func(path string) error) (*Dir, error) {
	d := &Dir{temporary: path == ""}
	err := os.MkdirAll(path, 0o700)
	if d.temporary {
		sweep(prefix, left)
		path, err = os.MkdirTemp("", prefix)
	}
	if err != nil {
		return nil, err
	}
	if d.Path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if d.lock, err = TryLock(filepath.Join(d.Path, lockFile)); err != nil {
		return nil, fmt.Errorf("directory %s is in use by another process: choose another one: %w", path, err)
	}
	if err := left(d.Path); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// sweep removes what is left of dead processes. Failing to is no reason not to start.
func sweep(prefix string, left func(string) error) {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*", lockFile))
	for _, path := range found {
		lock, err := TryLock(path)
		if err != nil {
			continue
		}
		if dir := filepath.Dir(path); left(dir) == nil {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
}

// Close unlocks the directory, and removes it if it is a temporary one. Calling it again does nothing.
func (d *Dir) Close() error {
	if d.lock == nil {
		return nil
	}
	defer func() { d.lock = nil }()
	var err error
	if d.temporary {
		err = os.RemoveAll(d.Path)
	}
	return errors.Join(err, d.lock.Close())
}

// TryLock locks a file, made if there is none, until it is closed or the process ends, however it ends.
func TryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
