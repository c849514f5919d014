// SPDX-License-Identifier: Apache-2.0

// Command runner-identity gives self-hosted GitHub Actions runners on Kubernetes an identity in the cloud.
// This file chooses the providers; a build with others is a main of its own that differs in one line.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/runner-identity/runner-identity/cmd"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/gcp"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	providers, err := identity.NewSet(aws.New(), gcp.New())
	if err != nil {
		return err
	}
	return cmd.Root(providers).ExecuteContext(ctx)
}
