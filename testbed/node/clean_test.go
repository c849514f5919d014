// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/node"
)

// ownCgroups are those of nodes, with the first version of cgroups.
const ownCgroups = "/sys/fs/cgroup/*/*runner-identity*"

// traces are what a node could leave on a machine, beside processes.
func traces(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"links": command(t, "ip", "-o", "link"), "addresses": command(t, "ip", "-o", "address")}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	out["mounts"] = string(mounts)
	if _, err := exec.LookPath("iptables-save"); err == nil {
		out["rules"] = command(t, "iptables-save")
	}
	for _, pattern := range []string{"/sys/fs/cgroup/*runner-identity*", ownCgroups, "/run/*", "/run/netns/*", "/var/lib/*", "/var/log/*", "/etc/*"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		out[pattern] = strings.Join(found, "\n")
	}
	return out
}

func command(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).Output()
	require.NoError(t, err)
	return string(out)
}

// processes are the first one of the node in a directory, and all that descend from it.
func processes(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	var found []string
	children := map[string][]string{}
	for _, p := range all {
		if line, _ := os.ReadFile(p + "/cmdline"); strings.HasPrefix(string(line), dir+"/files/boxinit") {
			found = append(found, p)
		}
		status, _ := os.ReadFile(p + "/status")
		if m := regexp.MustCompile(`\nPPid:\t(\d+)`).FindSubmatch(status); m != nil {
			parent := "/proc/" + string(m[1])
			children[parent] = append(children[parent], p)
		}
	}
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// alone starts a cluster with a node of its own, with a pod on it.
func alone(ctx context.Context, dir string) (*cluster.Cluster, *node.Node, error) {
	c, err := cluster.Start(ctx, cluster.Options{Nodes: true})
	if err != nil {
		return nil, nil, err
	}
	n, err := node.Start(ctx, c, node.Options{Dir: dir})
	if err != nil {
		return c, nil, err
	}
	img, err := image.Build(ctx, toolboxProgram, nil)
	if err != nil {
		return c, n, err
	}
	if err := n.Import(ctx, toolbox, img); err != nil {
		return c, n, err
	}
	if _, err := c.Kubectl(ctx, "run", "pod", "--image="+toolbox); err != nil {
		return c, n, err
	}
	_, err = c.Kubectl(ctx, "wait", "pod/pod", "--for=condition=Ready", "--timeout=60s")
	return c, n, err
}

func TestANodeLeavesNothing(t *testing.T) {
	node.Shared(t) // is there before and after
	before := traces(t)

	c, n, err := alone(t.Context(), "")
	require.NoError(t, err)
	running := processes(t, n.Dir)
	assert.GreaterOrEqual(t, len(running), 6, "box, containerd, kubelet, shim, pause, toolbox: the check is one")
	assert.NotEqual(t, before[ownCgroups], traces(t)[ownCgroups], "the check is one")
	assert.Equal(t, before["mounts"], traces(t)["mounts"], "not even while it runs")
	assert.Equal(t, before["links"], traces(t)["links"])
	require.NoError(t, n.Stop())
	require.NoError(t, c.Stop())

	assert.Equal(t, before, traces(t))
	assert.Empty(t, processes(t, n.Dir))
	for _, p := range running {
		assert.NoDirExists(t, p)
	}
	assert.NoDirExists(t, n.Dir)
	assert.NoError(t, n.Stop(), "stopping again does nothing")
}

func TestANodeStopsWithItsClusterAndKeepsItsLogsInTheUsersDirectory(t *testing.T) {
	node.Shared(t)
	dir := filepath.Join(t.TempDir(), "node")

	c, n, err := alone(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, c.Stop())

	assert.Empty(t, processes(t, n.Dir))
	assert.FileExists(t, filepath.Join(dir, "kubelet.log"))
	assert.NoDirExists(t, filepath.Join(dir, "containerd"), "images are not worth keeping")
}

// TestANodeIsGoneWhenItsParentIsKilledAndAnotherStarts runs itself as the parent, which is then killed as the out-of-memory
// killer would.
func TestANodeIsGoneWhenItsParentIsKilledAndAnotherStarts(t *testing.T) {
	if told := os.Getenv("TEST_NODE_FILE"); told != "" {
		crash(t, told)
		return
	}
	node.Shared(t)
	before := traces(t)
	told := filepath.Join(t.TempDir(), "dir")
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	parent.Env = append(os.Environ(), "TEST_NODE_FILE="+told)
	parent.Stderr = os.Stderr
	require.NoError(t, parent.Start())
	var crashed string
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(told)
		return err == nil && json.Unmarshal(raw, &crashed) == nil
	}, 3*time.Minute, 100*time.Millisecond)
	running := processes(t, crashed)
	require.GreaterOrEqual(t, len(running), 6)

	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()

	require.Eventually(t, func() bool { return len(processes(t, crashed)) == 0 }, 10*time.Second, 50*time.Millisecond)
	assert.Equal(t, before["mounts"], traces(t)["mounts"])
	assert.DirExists(t, crashed, "nobody was there to remove it")

	c, n, err := alone(t.Context(), "")
	require.NoError(t, err)
	assert.NoDirExists(t, crashed, "the next one does")
	require.NoError(t, n.Stop())
	require.NoError(t, c.Stop())
	assert.Equal(t, before, traces(t))
}

// crash starts a node, tells where, and waits for its end.
func crash(t *testing.T, told string) {
	t.Helper()
	_, n, err := alone(t.Context(), "")
	require.NoError(t, err)
	raw, err := json.Marshal(n.Dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(told, raw, 0o600))
	<-t.Context().Done()
}
