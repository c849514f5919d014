// SPDX-License-Identifier: Apache-2.0

package github

import (
	"context"
	"sync"
	"time"
)

// proofLasts is how long a call that succeeded proves that the scope exists and is ours.
const proofLasts = time.Minute

// proof is when the scope was last seen. GitHub answers 404 for a runner that is gone, and the same for everything once the
// credentials lose the scope: without proof, a lost right would look like all runners, busy ones too, being gone.
type proof struct {
	mu sync.Mutex
	at time.Time
}

func (p *proof) set(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = now
}

func (p *proof) holds(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.at.IsZero() && now.Sub(p.at) < proofLasts
}

// prove returns nil if a 404 for one runner can be believed.
func (c *Client) prove(ctx context.Context) error {
	if c.proof.holds(c.options.clock.Now()) {
		return nil
	}
	_, _, err := c.find(ctx, "no-runner-has-this-name")
	return err
}
