// SPDX-License-Identifier: Apache-2.0

// Package runneridentity makes RunnerIdentities real: ServiceAccounts, registry logins, and the plan that pods are given.
// It holds no cloud right of its own: every exchange uses a token of the identity's own ServiceAccount.
package runneridentity

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

const (
	defaultCallTimeout = 15 * time.Second
	defaultCallWait    = 500 * time.Millisecond
)

// Controller reconciles RunnerIdentities.
type Controller struct {
	// Client writes, and reads through caches.
	Client client.Client
	// Reader reads past the caches: ServiceAccounts and Secrets, by name, so that none of them is held in memory.
	Reader client.Reader
	// Tokens issues the ServiceAccount tokens that are traded at the cloud.
	Tokens Tokens
	// Providers are the plug-ins of this build.
	Providers identity.Set
	// Clock is asked for every time that is stored or compared.
	Clock clock.PassiveClock
	// Recorder takes the events.
	Recorder events.EventRecorder
	// Issuer is the cluster's ServiceAccount issuer. Empty if it is not known.
	Issuer string
	// Image is this program's own image, for init containers of runner pods.
	Image string
	// CallTimeout ends a call of a cloud. Default: 15 seconds.
	CallTimeout time.Duration
	// CallWait is how long a worker waits for a call before it turns to other identities; the call goes on and its result is
	// picked up later. Default: half a second.
	CallWait time.Duration

	calls   calls
	metrics metrics
}

var _ reconcile.ObjectReconciler[*v1alpha1.RunnerIdentity] = (*Controller)(nil)

// Reconcile brings one identity closer to what is asked.
func (c *Controller) Reconcile(ctx context.Context, ri *v1alpha1.RunnerIdentity) (reconcile.Result, error) {
	if !ri.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, c.undo(ctx, ri)
	}
	waiting, stop := context.WithTimeout(ctx, cmp.Or(c.CallWait, defaultCallWait))
	defer stop()
	s := newScope(ri, waiting.Done())
	err := s.run(ctx,
		c.resolve,
		c.accounts,
		c.publish,
		c.verify,
		c.logins,
	)
	sumUp(s)
	return s.result(c.Clock.Now()), errors.Join(err, c.save(ctx, s))
}
