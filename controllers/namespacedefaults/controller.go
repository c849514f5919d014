// SPDX-License-Identifier: Apache-2.0

// Package namespacedefaults gives accounts of whole namespaces an identity, as the mappings of IdentityProviders say. It touches no
// ServiceAccount and no Secret itself: for each namespace that a mapping selects it makes a RunnerIdentity, and what is true of
// any RunnerIdentity is true of those.
package namespacedefaults

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// Controller reconciles IdentityProviders: their status, and the RunnerIdentities of their mappings.
type Controller struct {
	// Client writes, and reads through caches.
	Client client.Client
	// Reader reads past the caches: single objects, by name.
	Reader client.Reader
	// Providers are the plug-ins of this build.
	Providers identity.Set
	// Recorder takes the events.
	Recorder events.EventRecorder
	// Issuer is the cluster's ServiceAccount issuer. Empty if it is not known.
	Issuer string
	// Namespace is the controller's own. No mapping selects it: its default account is one step from the controller's rights.
	Namespace string
	// Watched are the namespaces whose RunnerIdentities this program reconciles. Empty: all.
	Watched []string

	metrics metrics
}

var _ reconcile.ObjectReconciler[*v1alpha1.IdentityProvider] = (*Controller)(nil)

// Reconcile brings the namespaces of one provider closer to what its mappings ask for. A provider that is being deleted takes
// its RunnerIdentities along by owner reference.
func (c *Controller) Reconcile(ctx context.Context, p *v1alpha1.IdentityProvider) (reconcile.Result, error) {
	if !p.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	before := p.DeepCopy()
	w, err := c.look(ctx, p)
	if err != nil {
		return reconcile.Result{}, err
	}
	r := report{provider: p, findings: refused(p)}
	var errs []error
	kept := map[client.ObjectKey]bool{}
	for _, place := range w.places() {
		got, err := c.settle(ctx, w, place)
		if err != nil {
			errs = append(errs, fmt.Errorf("namespace %q, mapping %q: %w", place.namespace, place.mapping.Name, err))
		}
		kept[place.key()] = got.keep
		r.add(place, got)
	}
	errs = append(errs, c.prune(ctx, w, kept))
	r.write(resolve.CheckProvider(c.Providers, p))
	errs = append(errs, c.save(ctx, before, p))
	return reconcile.Result{}, errors.Join(errs...)
}
