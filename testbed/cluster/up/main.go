// SPDX-License-Identifier: Apache-2.0

// Command up runs the test cluster's control plane, and with -node a node beside it, until it is interrupted. With -prepare it
// only sees to it that the programs are there, and shows the progress of their first build.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/node"
)

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "up:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	prepare := flag.Bool("prepare", false, "find or build the programs, and end")
	dir := flag.String("dir", "", "directory for logs and data; default: a temporary one")
	crds := flag.String("crds", "config/crd", "directory of the CustomResourceDefinitions to install")
	withNode := flag.Bool("node", false, "run a node too, which needs Linux and root; with -prepare: have its programs too")
	flag.Parse()
	o := cluster.Options{Dir: *dir, Progress: os.Stderr, Nodes: *withNode}
	if *prepare {
		where, err := cluster.Prepare(ctx, o)
		fmt.Fprintln(os.Stderr, "control plane:", where)
		return err
	}
	c, err := cluster.Start(ctx, o)
	if err != nil {
		return err
	}
	if err := c.InstallCRDs(ctx, *crds); err != nil {
		return errors.Join(err, c.Stop())
	}
	if *withNode {
		if _, err := node.Start(ctx, c, node.Options{Progress: os.Stderr}); err != nil {
			return errors.Join(err, c.Stop())
		}
	}
	fmt.Printf("export KUBECONFIG=%s\n", c.Kubeconfig)
	<-ctx.Done()
	return c.Stop()
}
