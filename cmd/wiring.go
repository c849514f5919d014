// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

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

// addControllers adds the controllers to the manager.
func (f *controllerFlags) addControllers(ctx context.Context, mgr ctrl.Manager, providers identity.Set, credentials types.NamespacedName, issuer string) error {
	identities := &runneridentity.Controller{
		Client:    mgr.GetClient(),
		Reader:    mgr.GetAPIReader(),
		Tokens:    runneridentity.APITokens{Client: mgr.GetClient()},
		Providers: providers,
		Clock:     clock.RealClock{},
		Recorder:  mgr.GetEventRecorder("runner-identity"),
		Issuer:    issuer,
		Image:     f.own,
	}
	if err := identities.SetupWithManager(ctx, mgr, runneridentity.Options{Workers: f.workers}); err != nil {
		return err
	}
	pool := github.NewPool()
	counts, err := runnerdeployment.NewMetrics(metrics.Registry)
	if err != nil {
		return err
	}
	deployments := runnerdeployment.New(runnerdeployment.Options{
		Client:       mgr.GetClient(),
		Reader:       mgr.GetAPIReader(),
		Connect:      connect(pool),
		Events:       mgr.GetEventRecorder("runner-identity"),
		DefaultImage: f.image,
		Credentials:  credentials,
		Metrics:      counts,
		Workers:      f.workers,
	})
	return deployments.SetupWithManager(mgr)
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
