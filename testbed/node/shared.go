// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

// shared is the one node of a test binary, as there is one control plane: see cluster.Shared.
var shared struct {
	sync.Mutex
	node *Node
	err  error
}

// Shared returns the node of the test binary's shared cluster. The test is skipped with -short, and where no node can run. The
// package's TestMain calls cluster.MainWithNodes.
func Shared(t testing.TB) *Node {
	t.Helper()
	c := cluster.Shared(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.node == nil && shared.err == nil {
		shared.node, shared.err = startShared(c)
	}
	if errors.Is(shared.err, ErrNoNode) {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatalf("start a node: %v", shared.err)
	}
	return shared.node
}

// startShared does not end with the test that happens to come first, so it takes no context of a test.
func startShared(c *cluster.Cluster) (*Node, error) {
	return Start(context.Background(), c, Options{Progress: os.Stderr})
}
