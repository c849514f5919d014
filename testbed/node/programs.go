// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/node/internal/box"
)

const (
	pauseProgram = "github.com/runner-identity/runner-identity/testbed/image/pause"
	pauseImage   = "testbed.local/pause:1"
)

// pollEvery is how often a condition is looked at.
const pollEvery = 100 * time.Millisecond

func (n *Node) startContainerd(ctx context.Context, m machine) error {
	pause, err := image.Build(ctx, pauseProgram, nil)
	if err != nil {
		return err
	}
	if err := n.box.run(box.Program{
		Name: "containerd", Argv: []string{m.containerd, "--config=" + inside("files", "containerd.toml")},
		// Every registry that it can reach is one of ours. A hosts.toml could say so of hosts that are known before only.
		Env: []string{"SSL_CERT_FILE=" + inside("files", "ca.crt")},
	}); err != nil {
		return err
	}
	if err := n.wait(ctx, "containerd", func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", n.box.file(socket))
		if err != nil {
			return err
		}
		return c.Close()
	}); err != nil {
		return err
	}
	return n.Import(ctx, pauseImage, pause)
}

// Import puts an image into the node's image store, so that pods can run it without a registry.
func (n *Node) Import(ctx context.Context, ref string, img v1.Image) error {
	return image.Import(ctx, n.box.file(socket), ref, img)
}

func (n *Node) startKubelet(_ context.Context, m machine) error {
	if err := n.cluster.StartNodeSupport(); err != nil {
		return err
	}
	locks, err := makeCgroup(cgroup(n.Dir))
	for _, l := range locks {
		n.later(l)
	}
	if err != nil {
		return err
	}
	return n.box.run(box.Program{Name: "kubelet", Argv: append(m.kubelet,
		"--config="+inside("files", "kubelet.yaml"), "--kubeconfig="+inside("files", "kubeconfig"), "--root-dir="+inside("kubelet"),
		"--cert-dir="+inside("kubelet", "pki"), "--hostname-override="+n.Name, "--node-ip="+nodeAddress)})
}

// inside is the path by which the node's programs know a file of its directory.
func inside(name ...string) string { return filepath.Join(append([]string{box.Dir}, name...)...) }

// ready waits until the scheduler may send pods.
func (n *Node) ready(ctx context.Context, _ machine) error {
	return n.wait(ctx, "node "+n.Name, func(ctx context.Context) error {
		node, err := n.kube.CoreV1().Nodes().Get(ctx, n.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
				return errors.New(c.Message)
			}
		}
		if len(node.Status.Conditions) == 0 || len(node.Spec.Taints) > 0 {
			return fmt.Errorf("not ready for pods yet: taints %v", node.Spec.Taints)
		}
		return nil
	})
}

// wait polls until ready returns nil. It gives up when ctx is done or a program has ended.
func (n *Node) wait(ctx context.Context, what string, ready func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
		last = ready(ctx)
		return last == nil, n.box.ended()
	})
	if err != nil {
		return fmt.Errorf("wait for %s (logs in %s): %w: %w", what, n.Dir, err, last)
	}
	return nil
}
