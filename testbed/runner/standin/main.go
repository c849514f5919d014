// SPDX-License-Identifier: Apache-2.0

// Command standin stands in for GitHub's runner program: see the README of the package runner.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/runner-identity/runner-identity/testbed/runner"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	o, err := runner.FromEnviron(os.Environ(), home(), os.Stdout)
	if err != nil {
		return err
	}
	return runner.Run(ctx, o)
}

// home is where the program is, else (where /proc is not mounted) where it was started.
func home() string {
	program, err := os.Executable()
	if err != nil {
		return "."
	}
	return filepath.Dir(program)
}
