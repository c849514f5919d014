// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

// pluginDirs are where CNI plug-ins are: in Debian, in Fedora, and where everybody else puts them.
var pluginDirs = []string{"/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"}

// plugins are the CNI plug-ins of the node's network.
var plugins = []string{"bridge", "host-local", "loopback"}

// packages are the programs that a node needs and Debian's packages with them.
var packages = []struct{ program, name string }{
	{"containerd", "containerd"}, {"ctr", "containerd"}, {"runc", "runc"}, {"ip", "iproute2"},
}

const pluginPackage = "containernetworking-plugins"

// A machine is what a node needs of the one that it runs on.
type machine struct {
	containerd string   // path of the program
	pluginDir  string   // of the CNI plug-ins
	kubelet    []string // beginning of the command line
}

// Check returns nil if this machine can run a node beside a cluster's control plane, or an ErrNoNode that says what is missing.
func Check(c *cluster.Cluster) error {
	_, err := check(c)
	return err
}

func check(c *cluster.Cluster) (m machine, err error) {
	if runtime.GOOS != "linux" {
		return m, fmt.Errorf("%w: needs Linux, this is %s", ErrNoNode, runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return m, fmt.Errorf("%w: needs root, this is user %d", ErrNoNode, os.Geteuid())
	}
	kernel, err := os.ReadFile("/proc/filesystems")
	if err == nil && !bytes.Contains(kernel, []byte("\toverlay\n")) {
		return m, fmt.Errorf("%w: the kernel has no overlay file system: modprobe overlay", ErrNoNode)
	}
	if m.pluginDir, err = installed(); err != nil {
		return m, err
	}
	if m.containerd, err = exec.LookPath("containerd"); err != nil {
		return m, fmt.Errorf("%w: %w", ErrNoNode, err)
	}
	if m.kubelet, err = c.Program("kubelet"); err != nil {
		return m, fmt.Errorf("%w: %w: unset KUBEBUILDER_ASSETS to have it built", ErrNoNode, err)
	}
	return m, nil
}

// installed finds the CNI plug-ins and the programs, or says what to install.
func installed() (pluginDir string, err error) {
	var missing []string
	for _, p := range packages {
		if _, err := exec.LookPath(p.program); err != nil {
			missing = append(missing, p.name)
		}
	}
	i := slices.IndexFunc(pluginDirs, hasPlugins)
	if i < 0 {
		missing = append(missing, pluginPackage)
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return "", fmt.Errorf("%w: install with: apt-get install --no-install-recommends %s", ErrNoNode, strings.Join(slices.Compact(missing), " "))
	}
	return pluginDirs[i], nil
}

func hasPlugins(dir string) bool {
	return !slices.ContainsFunc(plugins, func(p string) bool {
		_, err := os.Stat(filepath.Join(dir, p))
		return err != nil
	})
}
