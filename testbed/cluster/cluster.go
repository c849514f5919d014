// SPDX-License-Identifier: Apache-2.0

// Package cluster runs a real Kubernetes control plane on loopback for tests and the demo: etcd, kube-apiserver and
// kube-controller-manager. Every Start gives a new, empty cluster; nothing of it outlives Stop or the calling process.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/runner-identity/runner-identity/testbed/process"
)

// DefaultIssuer is the issuer of ServiceAccount tokens if Options names none: the shape of a managed cluster's, at a host that
// cannot exist.
const DefaultIssuer = "https://oidc.cluster.test/id/EXAMPLE"

// readyTimeout bounds the start, the build of the programs not included. A start takes 10 seconds on two idle cores.
const readyTimeout = 3 * time.Minute

// Options are the choices of Start. The zero value is good for tests.
type Options struct {
	// Dir gets the logs, certificates and data. It is kept. Default: a temporary directory that Stop removes.
	Dir string
	// Progress is told what Start does. Default: nobody.
	Progress io.Writer
	// Issuer is the URL that ServiceAccount tokens name as their issuer. Default: DefaultIssuer.
	Issuer string
	// Nodes is whether the programs of a node are needed too. Downloads of the control plane do not have them: see Prepare.
	Nodes bool
}

func (o Options) progress() progress { return progress{cmp.Or[io.Writer](o.Progress, io.Discard)} }

// A Cluster is a running control plane.
type Cluster struct {
	// Config is the cluster admin's, without a client-side rate limit.
	Config *rest.Config
	// Kubeconfig is the path of the same as a file.
	Kubeconfig string
	// Issuer is the issuer of ServiceAccount tokens.
	Issuer string
	// JWKSURL is where the API server publishes the keys of that issuer; HTTPClient reaches it.
	JWKSURL string
	// Dir holds the logs: etcd.log, kube-apiserver.log, kube-controller-manager.log.
	Dir string
	// Controllers is whether kube-controller-manager runs. Without it there is no garbage collection, and namespaces are not
	// emptied when they are deleted.
	Controllers bool

	programs  programs
	progress  progress
	home      *process.Dir
	keys      *keys
	processes []*process.Process

	nodeSupport bool
	beforeStop  []func() error
}

// Start finds or builds the programs and starts them; it returns when the API server is ready and the default ServiceAccount
// exists. ctx bounds the start only. Call Stop when done.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	p := o.progress()
	programs, err := findPrograms(ctx, p, o.Nodes)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Issuer: cmp.Or(o.Issuer, DefaultIssuer), programs: programs, progress: p}
	if err := c.makeDir(o.Dir); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// start starts the programs in the order in which they need each other.
func (c *Cluster) start(ctx context.Context) error {
	began := time.Now()
	keys, err := newKeys(c.Dir)
	if err != nil {
		return err
	}
	c.keys = keys
	if err := c.startEtcd(); err != nil {
		return err
	}
	if err := c.startAPIServer(ctx, keys); err != nil {
		return err
	}
	if err := c.startControllerManager(ctx, keys); err != nil {
		return err
	}
	c.progress.say("control plane ready after %s: %s", time.Since(began).Round(time.Second/10), c.Config.Host)
	return nil
}

// Stop ends the programs and removes the temporary directory. Calling it again does nothing.
func (c *Cluster) Stop() error {
	var errs []error
	for _, stop := range slices.Backward(c.beforeStop) {
		errs = append(errs, stop())
	}
	c.beforeStop = nil
	for _, p := range slices.Backward(c.processes) {
		p.Kill()
	}
	c.processes = nil
	return errors.Join(append(errs, c.home.Close())...)
}

// HTTPClient returns a client that the API server knows as the cluster's admin.
func (c *Cluster) HTTPClient() (*http.Client, error) { return rest.HTTPClientFor(c.Config) }

// JWKS returns the public keys of the issuer, as the API server publishes them.
func (c *Cluster) JWKS(ctx context.Context) ([]byte, error) {
	k, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	return k.RESTClient().Get().AbsPath("/openid/v1/jwks").DoRaw(ctx)
}

func (c *Cluster) path(name string) string { return filepath.Join(c.Dir, name) }

// A progress takes one line for a person at a time.
type progress struct{ w io.Writer }

func (p progress) say(format string, a ...any) { fmt.Fprintf(p.w, format+"\n", a...) }
