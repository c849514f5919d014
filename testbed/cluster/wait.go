// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// pollEvery is how often a condition is looked at.
const pollEvery = 100 * time.Millisecond

// run starts one of the programs; it is killed by Stop.
func (c *Cluster) run(name string, flags ...string) (*process, error) {
	argv, err := c.programs.command(name)
	if err != nil {
		return nil, err
	}
	p, err := startProcess(c.Dir, name, append(argv, flags...))
	if err == nil {
		c.processes = append(c.processes, p)
	}
	return p, err
}

// forget drops a process that has ended.
func (c *Cluster) forget(p *process) {
	c.processes = slices.DeleteFunc(c.processes, func(q *process) bool { return q == p })
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
			if err := p.ended(); err != nil {
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
