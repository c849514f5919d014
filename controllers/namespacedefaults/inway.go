// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"fmt"
	"slices"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// inWay looks for another RunnerIdentity that is bound to the place's account; nil if none is in the way.
func (c *Controller) inWay(w world, p place, want, live *v1alpha1.RunnerIdentity) *settled {
	for _, other := range w.identities[p.namespace] {
		if other.Name == want.Name || !slices.Contains(resolve.Bound(other), p.account()) {
			continue
		}
		var found *settled
		if madeByMapping(other) {
			found = inHandover(other, p, live)
		} else {
			found = c.users(other, p, want, live)
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// inHandover waits for the RunnerIdentity of a mapping that stood before to let go: two at once would conflict on the account.
func inHandover(other *v1alpha1.RunnerIdentity, p place, live *v1alpha1.RunnerIdentity) *settled {
	if live != nil {
		return nil
	}
	return new(conflict(v1alpha1.ReasonProgressing, fmt.Sprintf("RunnerIdentity %q has to let go of ServiceAccount %q first", other.Name, p.account())))
}

// users is for a RunnerIdentity of a user, or of a RunnerDeployment, that makes the account somebody else. It stands if it was
// there first. One that came later is told of: where the cloud binds by annotation it has the conflict itself.
func (c *Controller) users(other *v1alpha1.RunnerIdentity, p place, want, live *v1alpha1.RunnerIdentity) *settled {
	principal := c.plan(p, want).Principal
	if other.Status.Principal == "" || principal == "" || other.Status.Principal == principal {
		return nil
	}
	found := conflict(v1alpha1.ReasonIdentityConflict, fmt.Sprintf(
		"RunnerIdentity %q makes ServiceAccount %q %s, and this mapping would make it %s: delete the one, or take the namespace from the other",
		other.Name, p.account(), other.Status.Principal, principal))
	found.keep = live != nil && live.CreationTimestamp.Before(&other.CreationTimestamp)
	return &found
}

// plan is what the place's account would be given. Empty if that does not resolve: the RunnerIdentity then says why.
func (c *Controller) plan(p place, want *v1alpha1.RunnerIdentity) identity.Plan {
	r, err := resolve.Identity(resolve.Input{
		Providers: c.Providers, Identity: want, Provider: p.provider, NamespaceLabels: p.labels, Issuer: c.Issuer,
	})
	if err != nil {
		return identity.Plan{}
	}
	return r.Plan
}

// loginsOnly reports whether a plan binds pods, by a token in each of them, and not their account: of such an identity a mapping,
// which changes no pod, can give the registry logins and nothing else.
func loginsOnly(plan identity.Plan) bool { return len(plan.Tokens) > 0 && len(plan.Accounts) == 0 }
