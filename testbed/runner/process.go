// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

// strayLimit is how long output of processes that a step left behind is waited for.
const strayLimit = 2 * time.Second

// hook runs the job-started hook as GitHub's runner does: a path that ends in .sh, by bash, else sh. In an image without either, and
// only here, it runs by itself.
func (w *worker) hook(ctx context.Context, _ job.Step, env environment, out *output) error {
	path := w.options.Hook
	if filepath.Ext(path) != ".sh" {
		return fmt.Errorf("%s: %q must end in .sh (GitHub's runner also takes .ps1 and .js)", envHook, path)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%s: %w", envHook, err)
	}
	if shell := findShell(); shell != nil {
		return w.process(ctx, append(shell, path), env, out)
	}
	return w.process(ctx, []string{path}, env, out)
}

func findShell() []string {
	if _, err := exec.LookPath("bash"); err == nil {
		return []string{"bash", "--noprofile", "--norc", "-e", "-o", "pipefail"}
	}
	if _, err := exec.LookPath("sh"); err == nil {
		return []string{"sh", "-e"}
	}
	return nil
}

// command runs a step's lines, by its shell if it has one.
func (w *worker) command(ctx context.Context, s job.Step, env environment, out *output) error {
	if s.Shell == "" {
		return w.builtins(ctx, s, env, out)
	}
	script := filepath.Join(w.temp, rand.Text()+".sh")
	if err := os.WriteFile(script, []byte(s.Run+"\n"), 0o644); err != nil {
		return err
	}
	defer func() { _ = os.Remove(script) }() // _temp is emptied later in any case
	return w.process(ctx, []string{s.Shell, "-e", script}, env, out)
}

// process runs a program in the workspace. When ctx is done, it and its children end.
func (w *worker) process(ctx context.Context, argv []string, env environment, out *output) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.workspace, env.environ(), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = strayLimit
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it succeeded, and left a process behind that holds its output open
	}
	return err
}
