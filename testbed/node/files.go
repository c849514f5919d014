// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/node/internal/box"
)

//go:embed all:files
var files embed.FS

// Directories of a node.
const (
	logDir = "log" // becomes /var/log
	// socket is containerd's, seen from inside.
	socket = "/run/containerd/containerd.sock"
)

// kept are what a node keeps on disk that is of no use once it is gone: all but the logs.
var kept = []string{"containerd", "kubelet", "files"}

// settings are what the files of a node are made of.
type settings struct {
	Dir, PluginDir, PauseImage, Cgroup, Socket string
	NodeAddress, DNSAddress, PodCIDR           string
}

// unpack writes the files that the node's programs read.
func (n *Node) unpack(_ context.Context, m machine) error {
	for _, dir := range []string{logDir, "kubelet", "containerd", "files"} {
		if err := os.MkdirAll(n.path(dir), 0o755); err != nil {
			return err
		}
	}
	s := settings{
		Dir: box.Dir, PluginDir: m.pluginDir, PauseImage: pauseImage, Cgroup: cgroup(n.Dir), Socket: socket,
		NodeAddress: nodeAddress, DNSAddress: dnsAddress, PodCIDR: podCIDR,
	}
	err := fs.WalkDir(files, "files", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return n.render(name, s)
	})
	return errors.Join(err, n.write("ca.crt", n.CA))
}

// render writes a file that is a template.
func (n *Node) render(name string, s settings) error {
	t, err := template.ParseFS(files, name)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := t.Execute(&content, s); err != nil {
		return err
	}
	return n.write(strings.TrimPrefix(name, "files/"), content.Bytes())
}

// write writes a file for the node's programs.
func (n *Node) write(name string, content []byte) error {
	path := n.path("files", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// writeCredentials writes the kubelet's credentials.
func (n *Node) writeCredentials(c *cluster.Cluster) error {
	k, err := c.WriteNodeCredentials(n.Name, n.path("files", "kubeconfig"))
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"client-ca.crt": k.ClientCA, "kubelet.crt": k.ServingCert, "kubelet.key": k.ServingKey} {
		if err := n.write(name, content); err != nil {
			return err
		}
	}
	return nil
}
