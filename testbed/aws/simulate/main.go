// SPDX-License-Identifier: Apache-2.0

// Simulate runs the simulated AWS until it is interrupted. See the README of the directory above.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/runner-identity/runner-identity/testbed/aws"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

func main() { os.Exit(sim.Main(run)) }

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	c, err := o.config(ctx)
	if err != nil {
		return err
	}
	c.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := aws.New(c)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return err
	}
	// The one line on stdout: scripts read it.
	fmt.Printf("http://%s\n", listener.Addr())
	return sim.Serve(ctx, s, listener)
}
