// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cleanupTimeout bounds the deletion of a test's namespace.
const cleanupTimeout = 10 * time.Second

// suite is the one control plane of a test binary. Go gives TestMain no way to hand something to tests but a variable.
var suite struct {
	sync.Mutex
	crdDirs []string
	nodes   bool
	cluster *Cluster
	err     error
}

// Main runs a package's tests, for its TestMain. The first test that calls Shared starts a control plane with the definitions
// in crdDirs; it ends with the tests, or when they are interrupted.
func Main(m *testing.M, crdDirs ...string) {
	main(m, false, crdDirs)
}

// MainWithNodes is Main for tests of which some need a node beside the control plane.
func MainWithNodes(m *testing.M, crdDirs ...string) { main(m, true, crdDirs) }

func main(m *testing.M, nodes bool, crdDirs []string) {
	suite.crdDirs, suite.nodes = crdDirs, nodes
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		stopShared()
		os.Exit(1)
	}()
	code := m.Run()
	stopShared()
	os.Exit(code)
}

// Shared returns the test binary's control plane. The test is skipped with -short.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane: not with -short")
	}
	suite.Lock()
	defer suite.Unlock()
	if suite.cluster == nil && suite.err == nil {
		suite.cluster, suite.err = startShared()
	}
	if suite.err != nil {
		t.Fatalf("start the control plane: %v", suite.err)
	}
	return suite.cluster
}

// startShared does not end with the test that happens to come first, so it takes no context of a test.
func startShared() (*Cluster, error) {
	ctx := context.Background()
	c, err := Start(ctx, Options{Progress: os.Stderr, Nodes: suite.nodes})
	for _, dir := range suite.crdDirs {
		if err == nil {
			err = c.InstallCRDs(ctx, dir)
		}
	}
	return c, err
}

func stopShared() {
	suite.Lock()
	defer suite.Unlock()
	if suite.cluster == nil {
		return
	}
	if err := suite.cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the control plane:", err)
	}
	suite.cluster = nil
}

// Namespace makes a namespace for one test and deletes it at the test's end.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	name, err := c.NewNamespace(t.Context())
	if err != nil {
		t.Fatalf("make a namespace: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context is done by now.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanupTimeout)
		defer cancel()
		if err := c.DeleteNamespace(ctx, name); err != nil {
			t.Errorf("delete namespace %s: %v", name, err)
		}
	})
	return name
}
