// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// gcloudTimeout bounds one run of gcloud, which takes seconds to start.
const gcloudTimeout = 2 * time.Minute

// gcloud runs the real gcloud with the pod's files and variables and nothing else, if the machine has it.
func (g *gcpCloud) gcloud(ctx context.Context, p *workload, token string) error {
	program, err := exec.LookPath("gcloud")
	if errors.Is(err, exec.ErrNotFound) {
		step("(gcloud is not on this machine: what it would do with the pod's files is left out)")
		return nil
	}
	if err != nil {
		return err
	}
	s, err := newSandbox(p, token)
	if err != nil {
		return err
	}
	project, err := s.run(ctx, program, "config", "get", "project")
	if err != nil {
		return err
	}
	ok("gcloud", "config get project, with the pod's files and variables: %s", project)
	access, err := s.run(ctx, program, "auth", "print-access-token")
	if err != nil {
		return err
	}
	who, err := g.bearer(access)
	if err != nil {
		return fmt.Errorf("gcloud auth print-access-token: %w", err)
	}
	ok("", "auth print-access-token: a token of %d characters; its bearer is %s", len(access), who)
	return g.pull(ctx, "", "with that token", access)
}

// run runs a program in the sandbox and returns what it prints. What it says about an error is shown, what it prints is not: that
// may be a token.
func (s sandbox) run(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gcloudTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	cmd.WaitDelay = time.Second
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
