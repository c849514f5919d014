// SPDX-License-Identifier: Apache-2.0

// Package node runs a real node beside testbed/cluster's control plane: kubelet, containerd, runc and CNI plug-ins. All of it
// is in namespaces of its own, with nothing that leads out: the machine has no bridge, mount or rule of it, and the kernel ends
// it when it is stopped or its parent dies, however that happens.
package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/process"
)

// ErrNoNode is wrapped by the errors that say why no node can run on this machine. Callers skip, or do without.
var ErrNoNode = errors.New("no node can run here")

// readyTimeout bounds a start. It takes about ten seconds on two idle cores.
const readyTimeout = 3 * time.Minute

// Options are the choices of Start. The zero value is good for tests.
type Options struct {
	// Dir gets the logs, images and data. It is kept. Default: a temporary directory that Stop removes.
	Dir string
	// Progress is told what Start does. Default: nobody.
	Progress io.Writer
}

// A Node is a running node. It is stopped with its cluster, if Stop is not called before.
type Node struct {
	// Name is the node's in the API. It is an address of the loopback network, at which the API server finds the kubelet.
	Name string
	// Dir holds the logs: containerd.log, kubelet.log, box.log.
	Dir string
	// CA is the certificate of the authority that all hosts of Serve are certified by. Containerd trusts it; pods have to be
	// told to.
	CA []byte

	cluster   *cluster.Cluster
	kube      kubernetes.Interface
	progress  io.Writer
	home      *process.Dir
	box       *boxed
	authority *authority
	names     *names

	mu      sync.Mutex // guards what follows
	closers []io.Closer
	hosts   int
	stopped bool
}

// Start adds a node to a cluster; it returns when the node takes pods. ctx bounds the start only. If this machine cannot run
// one, the error is ErrNoNode and says what is missing.
func Start(ctx context.Context, c *cluster.Cluster, o Options) (*Node, error) {
	needs, err := check(c)
	if err != nil {
		return nil, err
	}
	sweepCgroups()
	n := &Node{cluster: c, progress: cmp.Or[io.Writer](o.Progress, io.Discard), names: newNames()}
	if n.home, err = process.OpenDir(o.Dir, prefix, cleanUp); err != nil {
		return nil, err
	}
	n.Dir = n.home.Path
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := n.start(ctx, needs); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	c.BeforeStop(n.Stop)
	return n, nil
}

// start goes from what the machine offers to a node that takes pods.
func (n *Node) start(ctx context.Context, m machine) (err error) {
	began := time.Now()
	if n.kube, err = kubernetes.NewForConfig(n.cluster.Config); err != nil {
		return err
	}
	if n.authority, err = newAuthority(); err != nil {
		return err
	}
	n.CA = n.authority.pem
	n.say("starting a node (logs in %s)", n.Dir)
	for _, step := range []func(context.Context, machine) error{n.unpack, n.startBox, n.connect, n.startContainerd, n.startKubelet, n.ready} {
		if err := step(ctx, m); err != nil {
			return err
		}
	}
	n.say("node %s ready after %s", n.Name, time.Since(began).Round(time.Second/10))
	return nil
}

// Stop ends the node at once, as a machine that loses its power: to the cluster it is lost, and its pods with it. Calling it
// again does nothing.
func (n *Node) Stop() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopped {
		return nil
	}
	n.stopped = true
	var errs []error
	if n.box != nil {
		n.box.stop()
	}
	for _, c := range n.closers {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, cleanUp(n.Dir), n.home.Close())
	return errors.Join(errs...)
}

// later has Stop close something.
func (n *Node) later(c io.Closer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closers = append(n.closers, c)
}

func (n *Node) path(name ...string) string { return filepath.Join(append([]string{n.Dir}, name...)...) }

func (n *Node) say(format string, a ...any) { fmt.Fprintf(n.progress, format+"\n", a...) }
