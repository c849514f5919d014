// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
)

const (
	dirMode  = 0o755
	fileMode = 0o644
	// openMode is for what users of any number have to write.
	openMode = 0o777
)

// replace puts a file with that content in the place of one: whoever reads it sees the old one or the new one. It is written under
// another name first, in the same volume. The directory has to be there.
func replace(root *os.Root, name, staging string, content []byte, mode fs.FileMode) error {
	if err := stage(root, staging, content, mode); err != nil {
		return err
	}
	if err := root.Rename(staging, name); err != nil {
		return errors.Join(err, root.Remove(staging))
	}
	return nil
}

// stage writes a new file, over what a run that was killed may have left.
func stage(root *os.Root, staging string, content []byte, mode fs.FileMode) error {
	if err := root.Remove(staging); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(staging, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Chmod(mode), f.Close()) // the umask has had its say at the opening
}

// put makes a file and the directories above it.
func put(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	if err := root.MkdirAll(path.Dir(name), dirMode); err != nil {
		return err
	}
	return replace(root, name, path.Join(path.Dir(name), ".new-"+path.Base(name)), content, mode)
}

// has reports whether a file has that content.
func has(root *os.Root, name string, content []byte) (bool, error) {
	b, err := root.ReadFile(name)
	return err == nil && bytes.Equal(b, content), err
}
