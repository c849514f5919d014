// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/pace"
)

const (
	// verifyEvery is how often a principal is asked for that the cloud has answered for.
	verifyEvery = time.Hour
	// conflictEvery is how often an account is tried again on which somebody else has set what is ours to set.
	conflictEvery = time.Minute
	// recheck is when a reconciliation looks again at a call that it did not wait for.
	recheck = time.Second
)

// verify asks the cloud whether it takes the account's token: when what is asked for has changed, and about every hour.
func (c *Controller) verify(ctx context.Context, s *scope) error {
	prober, ok := identity.As[identity.Prober](s.resolved.Provider)
	if !ok {
		s.unverified(fmt.Sprintf("provider %s offers no way to verify", s.resolved.Provider.Name()))
		return nil
	}
	if s.resolved.Plan.Exchange.Audience == "" {
		s.unverified("pods get their credentials from an agent on their node: there is no token that could be traded from here")
		return nil
	}
	key := s.callKey(kindVerify, strings.Join(s.resolved.Plan.Hosts(), " "))
	c.seedVerified(s, key)
	got, ok := c.calls.outcome(ctx, c.call(key, c.probe(s, prober)), s.outOfPatience)
	if !ok {
		s.pending(v1alpha1.ConditionPrincipalVerified, c.Clock.Now())
		return nil
	}
	s.wakeAt(got.next)
	s.reportVerified(got)
	return nil
}

func (s *scope) unverified(why string) {
	s.identity.Status.VerifiedAt = nil
	s.condition(v1alpha1.ConditionPrincipalVerified, metav1.ConditionUnknown, v1alpha1.ReasonNotNeeded, why)
}

// pending is for a call that is under way: the condition is not known yet if it was never known for this generation.
func (s *scope) pending(condition string, now time.Time) {
	s.wakeAt(now.Add(recheck))
	have := meta.FindStatusCondition(s.identity.Status.Conditions, condition)
	if have == nil || have.ObservedGeneration != s.identity.Generation {
		s.condition(condition, metav1.ConditionUnknown, v1alpha1.ReasonProgressing, "waiting for the cloud's answer")
	}
}

func (s *scope) reportVerified(got outcome) {
	if got.err != nil {
		s.condition(v1alpha1.ConditionPrincipalVerified, metav1.ConditionFalse, string(identity.ReasonOf(got.err)), got.err.Error())
		return
	}
	s.identity.Status.VerifiedAt = new(metav1.NewTime(got.at))
	s.condition(v1alpha1.ConditionPrincipalVerified, metav1.ConditionTrue, v1alpha1.ReasonVerified, got.detail)
}

// seedVerified takes over what an earlier life of this program found out, so that a restart does not ask the cloud for every
// identity at once. Later, a new key means that the admin changed something that the plan does not show: that is asked about.
func (c *Controller) seedVerified(s *scope, key callKey) {
	if !c.calls.first(client.ObjectKeyFromObject(s.identity), c.Clock.Now()) {
		return
	}
	have := s.before.Status
	verified := meta.FindStatusCondition(have.Conditions, v1alpha1.ConditionPrincipalVerified)
	if verified == nil || verified.Status != metav1.ConditionTrue || verified.ObservedGeneration != s.identity.Generation ||
		have.VerifiedAt == nil || have.PlanHash != s.identity.Status.PlanHash {
		return
	}
	at := have.VerifiedAt.Time
	c.calls.seed(key, outcome{detail: verified.Message, at: at, next: at.Add(pace.Early(verifyEvery))}, c.Clock.Now())
}

// probe is the call that verifies. It runs beside the reconciliation, so it takes along what it needs of the scope.
func (c *Controller) probe(s *scope, prober identity.Prober) func(context.Context) (outcome, error) {
	request, wanted, principal := s.resolved.Request, s.tokenRequest(), s.resolved.Plan.Principal
	provider := s.identity.Spec.IdentityProvider
	return func(ctx context.Context) (outcome, error) {
		var links []identity.Link
		err := c.withToken(ctx, wanted, func(token identity.Secret) (err error) {
			links, err = prober.Probe(ctx, token, request)
			return err
		})
		c.metrics.exchanged(provider, reasonOf(err, v1alpha1.ReasonVerified))
		if err != nil {
			return outcome{}, err
		}
		detail := fmt.Sprintf("%s accepted the token of ServiceAccount %q; checked: %s", principal, wanted.Account, linkNames(links))
		return outcome{detail: detail, next: c.Clock.Now().Add(pace.Early(verifyEvery))}, nil
	}
}

func linkNames(links []identity.Link) string {
	names := make([]string, 0, len(links))
	for _, l := range links {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}
