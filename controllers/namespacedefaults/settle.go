// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// settle makes or changes the RunnerIdentity of a place, unless somebody else's claim on its account goes first.
func (c *Controller) settle(ctx context.Context, w world, p place) (settled, error) {
	if !p.stands() {
		return conflict(v1alpha1.ReasonMappingConflict, p.contested()), nil
	}
	want, err := resolve.NamespaceDefault(p.provider, p.mapping, p.namespace)
	if err != nil {
		return wrong(string(identity.ReasonOf(err)), err.Error()), nil
	}
	live := w.identity(p.key())
	inWay := c.inWay(w, p, want, live)
	if inWay != nil && !inWay.keep {
		return *inWay, nil
	}
	got, err := c.ensure(ctx, p, want, live)
	switch {
	case err != nil:
		return settled{keep: true}, err
	case inWay != nil:
		got.reason, got.message = inWay.reason, inWay.message
	case p.contested() != "":
		got.reason, got.message = v1alpha1.ReasonMappingConflict, p.contested()
	}
	got.loginsOnly = loginsOnly(c.plan(p, want))
	return got, nil
}

// ensure makes the RunnerIdentity of a place as it is wanted and says how far it is.
func (c *Controller) ensure(ctx context.Context, p place, want, live *v1alpha1.RunnerIdentity) (settled, error) {
	if live == nil {
		var err error
		if live, err = c.unseen(ctx, p.key()); err != nil {
			return settled{}, err
		}
	}
	if live != nil && !metav1.IsControlledBy(live, p.provider) {
		return taken(live), nil
	}
	if live != nil && (!live.DeletionTimestamp.IsZero() || !differs(live, want)) {
		return judge(live), nil
	}
	live, err := c.apply(ctx, p.provider, want)
	if err != nil {
		return refusedBy(err)
	}
	return judge(live), nil
}

// refusedBy is for an error of the API server: one that says what is wrong with the values is the admin's to mend.
func refusedBy(err error) (settled, error) {
	switch {
	case apierrors.IsInvalid(err):
		return wrong(string(identity.Invalid), err.Error()), nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), apierrors.IsNotFound(err):
		return waiting("the namespace is being deleted"), nil
	}
	return settled{}, err
}

// unseen asks past the cache whether there is a RunnerIdentity after all: to apply over one that somebody made a moment ago would
// take it from him.
func (c *Controller) unseen(ctx context.Context, key client.ObjectKey) (*v1alpha1.RunnerIdentity, error) {
	live := &v1alpha1.RunnerIdentity{}
	if err := c.Reader.Get(ctx, key, live); apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	} else if err != nil {
		return nil, fmt.Errorf("read RunnerIdentity: %w", err)
	}
	return live, nil
}
