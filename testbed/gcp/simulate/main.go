// SPDX-License-Identifier: Apache-2.0

// Simulate runs the simulated Google Cloud until it is interrupted. See the README of the directory above.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/runner-identity/runner-identity/testbed/gcp"
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
	s, err := gcp.New(c)
	if err != nil {
		return err
	}
	defer s.Close()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.listen)
	if err != nil {
		return err
	}
	// What scripts read: the endpoint, then a metadata server for the pod.
	fmt.Printf("http://%s\n", listener.Addr())
	if o.pod != "" {
		host, err := o.startMetadata(s)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		fmt.Println(host)
	}
	return sim.Serve(ctx, s, listener)
}
