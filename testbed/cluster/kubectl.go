// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Kubectl runs kubectl as the cluster's admin and returns what it printed to its standard output. The error holds what it
// printed to its standard error. The program comes with the control plane: the machine needs none.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return c.KubectlInput(ctx, "", args...)
}

// KubectlInput is Kubectl with a standard input, for apply -f -.
func (c *Cluster) KubectlInput(ctx context.Context, input string, args ...string) (string, error) {
	argv, err := c.programs.command("kubectl")
	if err != nil {
		return "", err
	}
	var out, errOut bytes.Buffer
	argv = append(append(argv, "--kubeconfig="+c.Kubeconfig, "--cache-dir="+c.path("kubectl-cache")), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = io.Reader(strings.NewReader(input)), &out, &errOut
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return out.String(), nil
}
