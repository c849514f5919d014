// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/manifest"
	"github.com/runner-identity/runner-identity/pace"
)

// logins keeps the registry Secret fresh. A login is renewed in good time; while that fails, the one before it stays until it
// expires. Hosts stand for themselves: one that fails costs the others nothing.
func (c *Controller) logins(ctx context.Context, s *scope) error {
	hosts := slices.Sorted(slices.Values(s.resolved.Plan.Hosts()))
	if len(hosts) == 0 {
		s.condition(v1alpha1.ConditionRegistryLoginReady, metav1.ConditionTrue, v1alpha1.ReasonNotNeeded, "there is no registry to log in to")
		return c.dropLogins(ctx, s)
	}
	registry, ok := identity.As[identity.RegistryLogin](s.resolved.Provider)
	if !ok || s.resolved.Plan.Exchange.Audience == "" {
		s.condition(v1alpha1.ConditionRegistryLoginReady, metav1.ConditionUnknown, v1alpha1.ReasonNotNeeded,
			"the controller cannot log in for these pods, which get their credentials on their node: their node's own pull credentials, or a login in the pod, have to do")
		return c.dropLogins(ctx, s)
	}
	have, err := c.readLogins(ctx, s)
	if err != nil {
		return err
	}
	if have.foreign {
		s.condition(v1alpha1.ConditionRegistryLoginReady, metav1.ConditionFalse, v1alpha1.ReasonSecretConflict, foreignSecret(have.name))
		return nil
	}
	results := make([]hostLogin, len(hosts))
	var wg sync.WaitGroup
	for i, host := range hosts {
		wg.Go(func() { results[i] = c.login(ctx, s, registry, host, have.logins[host]) })
	}
	wg.Wait()
	if err := c.writeLogins(ctx, s, have, results); err != nil {
		return fmt.Errorf("write registry Secret: %w", err)
	}
	s.reportLogins(results, c.Clock.Now())
	return nil
}

func foreignSecret(name string) string {
	return fmt.Sprintf("Secret %q is not this identity's own, and is left alone: rename it, or the RunnerIdentity", name)
}

// A hostLogin is a login to one host, and what is to become of it.
type hostLogin struct {
	manifest.Login
	// next is when it is renewed, or tried again. Zero: never.
	next time.Time
	// pending is whether the answer is still awaited.
	pending bool
	err     error
}

// valid reports whether the login can be used.
func (h hostLogin) valid(now time.Time) bool { return now.Before(h.Expires) }

// login returns the present login of a host if it is good for longer, else a new one. On failure it is the present one, for as
// long as it is valid.
func (c *Controller) login(ctx context.Context, s *scope, registry identity.RegistryLogin, host string, have hostLogin) hostLogin {
	now := c.Clock.Now()
	if have.valid(now) && now.Before(have.next) {
		return have
	}
	have.Host = host
	if !registry.Serves(host) {
		have.next = time.Time{}
		have.err = identity.Errorf(identity.Invalid, "registries: provider %s does not log in to this host", s.resolved.Provider.Name())
		return have
	}
	got, done := c.calls.outcome(ctx, c.call(s.callKey(kindLogin, host), c.fetchLogin(s, registry, host)), s.outOfPatience)
	have.next, have.err, have.pending = got.next, got.err, !done
	if got.credential.Expires.After(have.Expires) {
		have.Credential = got.credential
	}
	if !have.valid(c.Clock.Now()) {
		have.Credential = identity.Credential{}
	}
	return have
}

// fetchLogin is the call that logs in. It runs beside the reconciliation, so it takes along what it needs of the scope.
func (c *Controller) fetchLogin(s *scope, registry identity.RegistryLogin, host string) func(context.Context) (outcome, error) {
	request, wanted, provider := s.resolved.Request, s.tokenRequest(), s.identity.Spec.IdentityProvider
	return func(ctx context.Context) (outcome, error) {
		began := c.Clock.Now()
		var got identity.Credential
		err := c.withToken(ctx, wanted, func(token identity.Secret) (err error) {
			got, err = registry.Login(ctx, host, token, request)
			return err
		})
		if err == nil && got.Expires.IsZero() {
			err = identity.Errorf(identity.Unreachable, "the login came without an expiry")
		}
		now := c.Clock.Now()
		c.metrics.loggedIn(provider, reasonOf(err, v1alpha1.ReasonLoggedIn), now.Sub(began))
		return outcome{credential: got, next: pace.RenewAt(now, got.Expires)}, err
	}
}
