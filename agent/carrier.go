// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

const (
	homeDir  = ".home" // files for home directories
	envFile  = ".env"  // lines for $GITHUB_ENV
	hookFile = "job-started.sh"

	// workHome is where jobs' containers have their home directory, in the runner's work directory. The runner empties what is
	// above it before each job, so that files get there by the hook alone.
	workHome = "_temp/_github_home"
	// stagingDir is in the same volume and not emptied. Nothing is ever staged below _temp: hooks that copy it trip over files that
	// come and go.
	stagingDir = "_runner-identity"
)

// carrier carries the identity into the containers of jobs: the runner's job-started hook copies the files, and tokens are renewed
// in place. Files are plain and readable by all, as the job's own: its containers may run as any user.
type carrier struct {
	job  Job
	hook hook
	// dir is podspec.JobDir, read-only to the runner; work is the runner's work directory. Both are nil if nothing is carried.
	dir, work *os.Root
	// sub is where dir's files are in a home directory.
	sub string
}

func (a *Agent) carrier() (*carrier, error) {
	if a.WorkDir == "" {
		return &carrier{}, nil
	}
	dir, err := os.OpenRoot(a.JobDir)
	if err != nil {
		return nil, err
	}
	work, err := os.OpenRoot(a.WorkDir)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	sub := path.Base(a.JobDir)
	return &carrier{
		job: a.Config.Job, dir: dir, work: work, sub: sub,
		hook: hook{job: a.Config.Job, from: a.JobDir, sub: sub, temp: path.Join(a.WorkDir, "_temp"), then: a.Then},
	}, nil
}

func (c *carrier) close() {
	if c.dir != nil {
		_ = c.dir.Close()
		_ = c.work.Close()
	}
}

// write makes all files that the hook copies, and the hook last.
func (c *carrier) write() error {
	if c.dir == nil {
		return nil
	}
	for _, f := range c.job.Files {
		if err := put(c.dir, f.Path, []byte(f.Content), fileMode); err != nil {
			return err
		}
	}
	for _, f := range c.job.Home {
		if err := put(c.dir, path.Join(homeDir, f.Path), []byte(f.Content), fileMode); err != nil {
			return err
		}
	}
	if err := c.refresh(); err != nil {
		return err
	}
	if err := put(c.dir, envFile, []byte(lines(c.job.Env)), fileMode); err != nil {
		return err
	}
	return put(c.dir, hookFile, []byte(c.hook.script()), dirMode)
}

// refresh copies the tokens that have changed, for the next job that starts and for the one that runs.
func (c *carrier) refresh() error {
	if c.dir == nil {
		return nil
	}
	var errs []error
	for i, t := range c.job.Tokens {
		if err := c.copy(i, t); err != nil {
			errs = append(errs, fmt.Errorf("token %s: %w", t.Path, err))
		}
	}
	return errors.Join(errs...)
}

func (c *carrier) copy(i int, t Token) error {
	token, err := os.ReadFile(t.From)
	if err != nil {
		return err
	}
	same, err := has(c.dir, t.Path, token)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !same {
		if err := put(c.dir, t.Path, token, fileMode); err != nil {
			return err
		}
	}
	return c.renew(path.Join(workHome, c.sub, t.Path), path.Join(stagingDir, fmt.Sprint(i)), token)
}

// renew replaces the token of the job that runs. That there is no job, or that it has just ended, is no error.
func (c *carrier) renew(name, staging string, token []byte) error {
	same, err := has(c.work, name, token)
	if same || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := c.work.MkdirAll(stagingDir, 0o700); err != nil {
		return err
	}
	if err := replace(c.work, name, staging, token, fileMode); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remove removes the tokens, wherever they are.
func (c *carrier) remove() error {
	if c.dir == nil {
		return nil
	}
	errs := []error{c.work.RemoveAll(stagingDir), c.work.RemoveAll(path.Join(workHome, c.sub))}
	for _, t := range c.job.Tokens {
		if err := c.dir.Remove(t.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// lines are variables as $GITHUB_ENV takes them. One with a line break in it could set others, and is left out.
func lines(env []Variable) string {
	var b strings.Builder
	for _, e := range env {
		if !strings.ContainsAny(e.Name+e.Value, "\r\n") {
			fmt.Fprintf(&b, "%s=%s\n", e.Name, e.Value)
		}
	}
	return b.String()
}
