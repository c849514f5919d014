// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/runner-identity/runner-identity/testbed/e2e/probe/report"
)

// see tries what a path is for: a file is read, a directory is written to.
func see(path string) report.Seen {
	s := report.Seen{Path: path}
	info, err := os.Stat(path)
	if err != nil {
		s.Trouble = err.Error()
		return s
	}
	s.Mode, s.Owner = modeAndOwner(info)
	try := read
	if info.IsDir() {
		try = write
	}
	if err := try(path); err != nil {
		s.Trouble = err.Error()
	}
	s.Can = s.Trouble == ""
	return s
}

// modeAndOwner are written as by stat -c '%04a %u:%g'.
func modeAndOwner(info os.FileInfo) (mode, owner string) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "?", "?"
	}
	return fmt.Sprintf("%04o", s.Mode&0o7777), fmt.Sprintf("%d:%d", s.Uid, s.Gid)
}

func read(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && len(b) == 0 {
		return fmt.Errorf("%s: is empty", path)
	}
	return err
}

// write makes a file and a directory, as gcloud does, and removes them again.
func write(dir string) error {
	made, err := os.MkdirTemp(dir, "probe-")
	if err != nil {
		return err
	}
	err = os.WriteFile(made+"/file", []byte("x"), 0o600)
	return errors.Join(err, os.RemoveAll(made))
}
