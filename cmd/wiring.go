// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/namespacedefaults"
	"github.com/runner-identity/runner-identity/controllers/runnerdeployment"
	"github.com/runner-identity/runner-identity/controllers/runneridentity"
	"github.com/runner-identity/runner-identity/github"
	"github.com/runner-identity/runner-identity/identity"
)

// watched limits the caches to what the controllers need. Each names its own kinds; of Secrets both watch the same.
func watched() (map[client.Object]cache.ByObject, error) {
	runners, err := runnerdeployment.CacheOptions()
	if err != nil {
		return nil, err
	}
	all := runneridentity.CacheOptions()
	for o, by := range runners {
		if _, isSecret := o.(*corev1.Secret); !isSecret {
			all[o] = by
		}
	}
	return all, nil
}

// wiring is what the controllers are made of.
type wiring struct {
	flags       *controllerFlags
	providers   identity.Set
	credentials types.NamespacedName
	// namespace is the program's own.
	namespace string
	issuer    string
}

// addControllers adds the controllers to the manager.
func (w wiring) addControllers(ctx context.Context, mgr ctrl.Manager) error {
	return errors.Join(w.addIdentities(ctx, mgr), w.addDeployments(mgr), w.addNamespaceDefaults(mgr))
}

func (w wiring) addIdentities(ctx context.Context, mgr ctrl.Manager) error {
	c := &runneridentity.Controller{
		Client:    mgr.GetClient(),
		Reader:    mgr.GetAPIReader(),
		Tokens:    runneridentity.APITokens{Client: mgr.GetClient()},
		Providers: w.providers,
		Clock:     clock.RealClock{},
		Recorder:  mgr.GetEventRecorder(v1alpha1.FieldOwner),
		Issuer:    w.issuer,
		Image:     w.flags.own,
	}
	return c.SetupWithManager(ctx, mgr, runneridentity.Options{Workers: w.flags.workers})
}

func (w wiring) addDeployments(mgr ctrl.Manager) error {
	counts, err := runnerdeployment.NewMetrics(metrics.Registry)
	if err != nil {
		return err
	}
	c := runnerdeployment.New(runnerdeployment.Options{
		Client:       mgr.GetClient(),
		Reader:       mgr.GetAPIReader(),
		Connect:      connect(github.NewPool()),
		Events:       mgr.GetEventRecorder(v1alpha1.FieldOwner),
		DefaultImage: w.flags.image,
		Credentials:  w.credentials,
		Metrics:      counts,
		Workers:      w.flags.workers,
	})
	return c.SetupWithManager(mgr)
}

func (w wiring) addNamespaceDefaults(mgr ctrl.Manager) error {
	c := &namespacedefaults.Controller{
		Client:    mgr.GetClient(),
		Reader:    mgr.GetAPIReader(),
		Providers: w.providers,
		Recorder:  mgr.GetEventRecorder(v1alpha1.FieldOwner),
		Issuer:    w.issuer,
		Namespace: w.namespace,
		Watched:   w.flags.namespaces,
	}
	return c.SetupWithManager(mgr, namespacedefaults.Options{})
}

// connect makes GitHub clients from a Secret's data, the same for the same data.
func connect(pool *github.Pool) runnerdeployment.Connect {
	return func(_ context.Context, data map[string][]byte, scope github.Scope) (runnerdeployment.GitHub, error) {
		credentials, err := github.ParseCredentials(data)
		if err != nil {
			return nil, err
		}
		return pool.Client(credentials, scope)
	}
}
