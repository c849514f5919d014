// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/runner-identity/runner-identity/testbed/process"
)

// pollEvery is how often a condition is looked at.
const pollEvery = 100 * time.Millisecond

// run starts one of the programs; it is killed by Stop.
func (c *Cluster) run(program string, flags ...string) (*process.Process, error) {
	return c.runAs(program, program, flags...)
}

// runAs is run for the second of a program.
func (c *Cluster) runAs(name, program string, flags ...string) (*process.Process, error) {
	argv, err := c.programs.command(program)
	if err != nil {
		return nil, err
	}
	p, err := process.Start(process.Spec{Name: name, Dir: c.Dir, Argv: append(argv, flags...)})
	if err == nil {
		c.processes = append(c.processes, p)
	}
	return p, err
}

// forget drops a process that has ended.
func (c *Cluster) forget(p *process.Process) {
	c.processes = slices.DeleteFunc(c.processes, func(q *process.Process) bool { return q == p })
}

// wait polls until ready returns nil. It gives up when ctx is done or a program has ended.
func (c *Cluster) wait(ctx context.Context, what string, ready func(context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		for _, p := range c.processes {
			if err := p.Ended(); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s (logs in %s): %w: %w", what, c.Dir, ctx.Err(), err)
		case <-tick.C:
		}
	}
}
