// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

const httpLimit = 30 * time.Second

// builtins run lines without a shell, in images that have none. $NAME stands for a variable's value; there is no quoting.
func (w *worker) builtins(ctx context.Context, s job.Step, env environment, out *output) error {
	for line := range strings.Lines(s.Run) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var args []string
		for _, word := range words[1:] {
			args = append(args, os.Expand(word, env.get))
		}
		if err := w.builtin(ctx, words[0], args, env, out); err != nil {
			return fmt.Errorf("%s: %w", words[0], err)
		}
	}
	return nil
}

func (w *worker) builtin(ctx context.Context, name string, args []string, env environment, out *output) error {
	switch {
	case name == "env" && len(args) == 1:
		return showVariable(args[0], env, out)
	case name == "cat" && len(args) == 1:
		return w.cat(args[0], out)
	case name == "http" && len(args) == 2:
		return fetch(ctx, args[0], args[1], out)
	case name == "sleep" && len(args) == 1:
		return pause(ctx, args[0])
	case name == "exec" && len(args) > 0:
		return w.process(ctx, args, env, out)
	}
	return fmt.Errorf("no such command: must be env NAME, cat FILE, http METHOD URL, sleep DURATION or exec ARGS, or the step must have a shell")
}

func showVariable(name string, env environment, out io.Writer) error {
	value, ok := env[name]
	if !ok {
		return fmt.Errorf("%s: is not set", name)
	}
	fmt.Fprintln(out, value)
	return nil
}

func (w *worker) cat(file string, out io.Writer) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(w.workspace, file)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return err
}

// fetch trusts the authorities in SSL_CERT_FILE, if the runner has that.
func fetch(ctx context.Context, method, url string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, httpLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(out, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s", method, r.URL.Redacted(), resp.Status)
	}
	return nil
}

func pause(ctx context.Context, length string) error {
	d, err := time.ParseDuration(length)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
