// SPDX-License-Identifier: Apache-2.0

// Command demo is "make demo": a real control plane, simulated clouds that check for real, the controller, and one sample. It
// shows what came of the sample, proves it, and leaves nothing behind.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() { os.Exit(command()) }

// command runs the demo and gives the exit status.
func command() int {
	keep := flag.Bool("keep", false, "leave everything up until Ctrl-C")
	provider := flag.String("provider", "aws", "the provider: "+strings.Join(providers(), " or "))
	sample := flag.String("f", "", "the sample to apply (default: the provider's own)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	err := run(ctx, *provider, *sample, *keep)
	if ctx.Err() != nil {
		fmt.Fprintln(os.Stderr, "\ninterrupted; everything is cleaned up")
		return 130
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo failed:", err)
		return 1
	}
	return 0
}

// run is the demo of a provider with a sample, the provider's own if it is "".
func run(ctx context.Context, provider, sample string, keep bool) (err error) {
	f, err := formOf(provider)
	if err != nil {
		return err
	}
	w := &world{form: f}
	defer func() { err = errors.Join(err, w.stop()) }()

	heading("The world: a control plane, " + f.title + ", GitHub, the controller")
	if err := w.start(ctx, cmp.Or(sample, f.sample)); err != nil {
		return err
	}
	if err := show(ctx, w); err != nil {
		return err
	}
	if err := prove(ctx, w); err != nil {
		return err
	}
	if keep {
		w.explain()
		<-ctx.Done()
	}
	return nil
}
