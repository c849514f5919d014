// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/github"
	sim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestPoolGivesTheSameClientUntilTheSecretChanges(t *testing.T) {
	pool := github.NewPool()
	client := func(token string, s github.Scope) *github.Client {
		c, err := pool.Client(parse(t, map[string]string{github.KeyToken: token}), s)
		require.NoError(t, err)
		return c
	}
	first := client("ghp_a", organization)
	assert.Same(t, first, client("ghp_a", organization))
	assert.Same(t, first, client("ghp_a\n", organization), "a line break at the end is no other token")
	assert.NotSame(t, first, client("ghp_b", organization))
	assert.NotSame(t, first, client("ghp_a", repository))
}

func TestPoolIsBounded(t *testing.T) {
	pool := github.NewPool()
	credentials := parse(t, map[string]string{github.KeyToken: token})
	first, err := pool.Client(credentials, organization)
	require.NoError(t, err)
	for i := range 1024 {
		_, err := pool.Client(credentials, github.Scope{Organization: fmt.Sprint("acme-", i)})
		require.NoError(t, err)
	}
	again, err := pool.Client(credentials, organization)
	require.NoError(t, err)
	assert.NotSame(t, first, again, "the one that was not used longest is forgotten")
}

func TestManyReconcilesAtOnceShareOneTokenAndFewConnections(t *testing.T) {
	app := newApp(t)
	s := sim.New(sim.Options{Apps: []sim.App{app.registered("*")}, Groups: []string{"gpu"}})
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(s)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	credentials := parse(t, map[string]string{
		github.KeyAppID: "12", github.KeyInstallationID: "34", github.KeyPrivateKey: pkcs1(app.key), github.KeyEnterpriseURL: server.URL,
	})
	pool := github.NewPool()
	const workers, each = 8, 10
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range each {
				assert.NoError(t, live(t, pool, credentials, fmt.Sprintf("r%d-%d", w, i)))
			}
		})
	}
	group.Wait()
	assert.Empty(t, s.Runners())
	assert.Equal(t, workers*each, s.Calls()[sim.RouteRegister].Total)
	assert.Equal(t, 1, s.Calls()[sim.RouteToken].Total)
	assert.Zero(t, s.Calls()[sim.RouteListAll].Total)
	assert.LessOrEqual(t, connections.Load(), int64(16), "connections are kept between calls")
}

// live is a runner's life as a reconciler sees it.
func live(t *testing.T, pool *github.Pool, credentials github.Credentials, name string) error {
	c, err := pool.Client(credentials, organization)
	if err != nil {
		return err
	}
	r, err := c.Register(t.Context(), github.Registration{Name: name, Group: "gpu"})
	if err != nil {
		return err
	}
	if _, ok, err := c.Status(t.Context(), r.ID); err != nil || !ok {
		return fmt.Errorf("status of %s: found %v: %w", name, ok, err)
	}
	if _, ok, err := c.Find(t.Context(), name); err != nil || !ok {
		return fmt.Errorf("find %s: found %v: %w", name, ok, err)
	}
	return c.Remove(t.Context(), r.ID)
}
