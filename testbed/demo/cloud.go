// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

// A cloud is all that the demo knows of one cloud and of no other. There is one in aws.go and one in gcp.go.
type cloud interface {
	// start starts the simulator, whose IAM holds exactly what the trust command prints, and returns its URL.
	start(c *cluster.Cluster, r resolve.Resolved, t identity.Trust) (url string, err error)
	// here makes the admin's half go to the simulator.
	here(spec *v1alpha1.IdentityProviderSpec)
	// prove does with a runner pod's identity what the cloud's clients in the pod would do.
	prove(ctx context.Context, p *workload) error
	// stop ends the simulator, if it was started.
	stop()
}
