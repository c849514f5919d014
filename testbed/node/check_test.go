// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestAMachineWithoutTheProgramsIsToldWhatToInstall(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs Linux and root: see the next test")
	}
	t.Setenv("PATH", t.TempDir())

	err := Check(&cluster.Cluster{})

	require.ErrorIs(t, err, ErrNoNode)
	assert.ErrorContains(t, err, "apt-get install --no-install-recommends containerd")
	assert.ErrorContains(t, err, "iproute2 runc", "each once, in order")
}

func TestAUserWhoIsNotRootOrNotOnLinuxIsToldSo(t *testing.T) {
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		t.Skip("this is Linux and root: see the test before")
	}
	err := Check(&cluster.Cluster{})
	require.ErrorIs(t, err, ErrNoNode)
	assert.ErrorContains(t, err, "needs ")
}

func TestAControlPlaneWithoutAKubeletIsNamed(t *testing.T) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs Linux and root")
	}
	if _, err := installed(); err != nil {
		t.Skip(err)
	}
	err := Check(&cluster.Cluster{})
	require.ErrorIs(t, err, ErrNoNode)
	assert.ErrorContains(t, err, "no program kubelet")
}

func TestPluginsAreFoundWhereAllOfThemAre(t *testing.T) {
	dir := t.TempDir()
	for _, p := range plugins[1:] {
		require.NoError(t, os.WriteFile(filepath.Join(dir, p), nil, 0o755))
	}
	assert.False(t, hasPlugins(dir))
	require.NoError(t, os.WriteFile(filepath.Join(dir, plugins[0]), nil, 0o755))
	assert.True(t, hasPlugins(dir))
}
