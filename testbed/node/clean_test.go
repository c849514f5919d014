// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/node"
)

// traces are what a node could leave on a machine, beside processes and cgroups, which nodes of other tests have too.
func traces(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"links": command(t, "ip", "-o", "link"), "addresses": command(t, "ip", "-o", "address")}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	out["mounts"] = string(mounts)
	if _, err := exec.LookPath("iptables-save"); err == nil {
		out["rules"] = command(t, "iptables-save")
	}
	for _, pattern := range []string{"/run/*", "/run/netns/*", "/var/lib/*", "/var/log/*", "/etc/*"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		out[pattern] = strings.Join(found, "\n")
	}
	return out
}

// requireNoTraces compares what there is now with what there was.
func requireNoTraces(t *testing.T, before map[string]string) {
	t.Helper()
	for what, now := range traces(t) {
		require.Equal(t, before[what], now, what)
	}
}

// cgroups are those of a node's pods.
func cgroups(t *testing.T, processes []string) []string {
	t.Helper()
	var found []string
	for _, p := range processes {
		raw, _ := os.ReadFile(p + "/cgroup")
		if name := regexp.MustCompile(`/runner-identity-node-[0-9a-f]+`).Find(raw); name != nil {
			for _, pattern := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
				dirs, err := filepath.Glob(pattern + string(name))
				require.NoError(t, err)
				found = append(found, dirs...)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
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
	left := processes(t, n.Dir)
	assert.GreaterOrEqual(t, len(left), 6, "box, containerd, kubelet, shim, pause, toolbox: the check is one")
	groups := cgroups(t, left)
	assert.NotEmpty(t, groups, "the check is one")
	requireNoTraces(t, before) // not even while it runs
	require.NoError(t, n.Stop())
	require.NoError(t, c.Stop())

	requireNoTraces(t, before)
	for _, path := range append(append(left, groups...), n.Dir, c.Dir) {
		assert.NoDirExists(t, path)
	}
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
	named := filepath.Join(t.TempDir(), "node")
	temporary := startAndKill(t, "")
	inNamed := startAndKill(t, named)
	requireNoTraces(t, before)
	assert.DirExists(t, temporary.dir, "nobody was there to remove it")

	c, n, err := alone(t.Context(), "")
	require.NoError(t, err)
	for _, path := range append(append(temporary.groups, inNamed.groups...), temporary.dir) {
		assert.NoDirExists(t, path, "the next one removes it")
	}
	require.NoError(t, n.Stop())
	require.NoError(t, c.Stop())
	c, _, err = alone(t.Context(), named)
	require.NoError(t, err, "a directory that was crashed in can be used again")
	require.NoError(t, c.Stop())
	requireNoTraces(t, before)
}

// A crashed node is what is left of one.
type crashed struct {
	dir    string
	groups []string
}

// startAndKill starts a node in another process, kills that, and returns when all processes of the node are gone.
func startAndKill(t *testing.T, dir string) (c crashed) {
	t.Helper()
	told := filepath.Join(t.TempDir(), "told")
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	parent.Env = append(os.Environ(), "TEST_NODE_FILE="+told, "TEST_NODE_DIR="+dir)
	parent.Stderr = os.Stderr
	require.NoError(t, parent.Start())
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(told)
		return err == nil && json.Unmarshal(raw, &c.dir) == nil
	}, 3*time.Minute, 100*time.Millisecond)
	left := processes(t, c.dir)
	require.GreaterOrEqual(t, len(left), 6)
	c.groups = cgroups(t, left)
	require.NotEmpty(t, c.groups)

	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()

	require.Eventually(t, func() bool { return !slices.ContainsFunc(left, alive) }, 10*time.Second, 50*time.Millisecond)
	return c
}

// alive is whether a process has not ended. One that nobody has waited for yet, in a container without an init, is a zombie.
func alive(process string) bool {
	stat, err := os.ReadFile(process + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// crash starts a node, tells where, and waits for its end.
func crash(t *testing.T, told string) {
	t.Helper()
	_, n, err := alone(t.Context(), os.Getenv("TEST_NODE_DIR"))
	require.NoError(t, err)
	raw, err := json.Marshal(n.Dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(told, raw, 0o600))
	<-t.Context().Done()
}
