// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
)

// A sandbox is what a program in the runner's container would find, without a container: its files are below a directory, and its
// variables name them there. Nothing of this process's environment is in it but PATH.
type sandbox struct {
	dir string
	env []string
}

// newSandbox makes the sandbox of a pod, with a token where the kubelet would put it.
func newSandbox(p *workload, token string) (sandbox, error) {
	s := sandbox{dir: filepath.Join(p.dir, "sandbox")}
	dirs, moved := []string{filepath.Join(s.dir, "home")}, []string{}
	for _, m := range p.runner().VolumeMounts {
		dir := filepath.Join(s.dir, m.MountPath)
		dirs, moved = append(dirs, dir), append(moved, m.MountPath, dir)
	}
	paths := strings.NewReplacer(moved...)
	s.env = []string{"HOME=" + dirs[0], "PATH=" + os.Getenv("PATH")}
	for _, e := range p.runner().Env {
		if e.ValueFrom == nil {
			s.env = append(s.env, e.Name+"="+paths.Replace(e.Value))
		}
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return sandbox{}, err
		}
	}
	for path, content := range p.files(token) {
		if err := write(paths.Replace(path), paths.Replace(content)); err != nil {
			return sandbox{}, err
		}
	}
	return s, nil
}

func write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o400)
}
