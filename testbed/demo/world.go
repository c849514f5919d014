// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

const (
	// namespace is where the sample goes.
	namespace = "ci"
	// system is the controller's own namespace.
	system = "runner-identity-system"
)

// world is all that the demo starts.
type world struct {
	form

	dir        string                     // set by start: everything on disk
	cluster    *cluster.Cluster           // set by start
	kube       client.Client              // set by start: the cluster's admin
	cloudURL   string                     // set by startClouds
	github     *httptest.Server           // set by startClouds
	githubURL  string                     // set by startClouds
	controller *controller                // set by start
	sample     sample                     // set by start
	deployment *v1alpha1.RunnerDeployment // the sample's
}

// start starts everything, in the order in which it is needed.
func (w *world) start(ctx context.Context, samplePath string) error {
	var err error
	if w.sample, err = readSample(samplePath); err != nil {
		return err
	}
	w.deployment = w.sample.deployment
	if w.dir, err = os.MkdirTemp("", "runner-identity-demo-"); err != nil {
		return err
	}
	if w.cluster, err = cluster.Start(ctx, cluster.Options{Dir: filepath.Join(w.dir, "cluster"), Progress: os.Stdout}); err != nil {
		return err
	}
	if err := w.cluster.InstallCRDs(ctx, "config/crd"); err != nil {
		return err
	}
	if w.kube, err = newClient(w.cluster.Config); err != nil {
		return err
	}
	if err := w.startClouds(); err != nil {
		return err
	}
	if err := w.install(ctx); err != nil {
		return err
	}
	if w.controller, err = startController(ctx, w); err != nil {
		return err
	}
	return w.sample.apply(ctx, w)
}

// stop undoes start, as far as it came.
func (w *world) stop() error {
	var errs []error
	if w.controller != nil {
		w.controller.stop()
	}
	w.cloud.stop()
	if w.github != nil {
		w.github.Close()
	}
	if w.cluster != nil {
		errs = append(errs, w.cluster.Stop())
	}
	if w.dir != "" {
		errs = append(errs, os.RemoveAll(w.dir))
	}
	return errors.Join(errs...)
}

// explain says how to play with what is up.
func (w *world) explain() {
	heading("Everything is up until Ctrl-C. In another terminal:")
	fmt.Printf(`   export KUBECONFIG=%s
   kubectl -n %s get rid,rident,pods,sa,secrets,events
   kubectl -n %s scale rid/%s --replicas=5
   kill %d                            # the controller; it is started again after a second, as a Deployment would
   tail -f %s
   curl %s/_sim/calls                 # what %s was asked; faults and lifetimes: %s
   curl %s/_sim/runners               # what GitHub knows; busy, done, faults: testbed/github/README.md
`, w.cluster.Kubeconfig, namespace, namespace, w.deployment.Name, w.controller.pid(), w.controller.log,
		w.cloudURL, w.title, w.manual, w.githubURL)
}
