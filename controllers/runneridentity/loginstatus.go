// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// reportLogins puts logins, sorted by host, into status and condition.
func (s *scope) reportLogins(results []hostLogin, now time.Time) {
	status := &s.identity.Status
	status.Registries, status.RegistrySecret, status.LoginExpiresAt = nil, "", nil
	for _, r := range results {
		status.Registries = append(status.Registries, r.status())
		s.wakeAt(r.next)
		if r.pending {
			s.pending(v1alpha1.ConditionRegistryLoginReady, now)
		}
		if r.Expires.IsZero() {
			continue
		}
		// A login that cannot be renewed has to be taken out of the Secret when it expires.
		if r.err != nil {
			s.wakeAt(r.Expires)
		}
		status.RegistrySecret = resolve.RegistrySecretName(s.identity.Name)
		if status.LoginExpiresAt == nil || r.Expires.Before(status.LoginExpiresAt.Time) {
			status.LoginExpiresAt = new(metav1.NewTime(r.Expires))
		}
	}
	s.loginCondition(results)
}

func (h hostLogin) status() v1alpha1.RegistryStatus {
	r := v1alpha1.RegistryStatus{Host: h.Host}
	if !h.Expires.IsZero() {
		r.ExpiresAt = new(metav1.NewTime(h.Expires))
	}
	if !h.next.IsZero() {
		r.RenewAt = new(metav1.NewTime(h.next))
	}
	if h.err != nil {
		r.Error = v1alpha1.Bounded(h.err.Error())
	}
	return r
}

// loginCondition is False if a host fails, even while its earlier login is still valid: whoever looks has until then.
func (s *scope) loginCondition(results []hostLogin) {
	var hosts, failures []string
	reason := identity.Reason("")
	pending := false
	for _, r := range results {
		hosts = append(hosts, r.Host)
		pending = pending || r.pending
		if r.err != nil {
			failures = append(failures, r.Host+": "+r.err.Error())
			reason = moreUrgent(reason, identity.ReasonOf(r.err))
		}
	}
	switch {
	case len(failures) > 0:
		s.condition(v1alpha1.ConditionRegistryLoginReady, metav1.ConditionFalse, string(reason), strings.Join(failures, "; "))
	case !pending:
		s.condition(v1alpha1.ConditionRegistryLoginReady, metav1.ConditionTrue, v1alpha1.ReasonLoggedIn, "logged in to "+strings.Join(hosts, ", "))
	}
}

// moreUrgent is the reason that somebody has to act on first: what a person has to mend comes before what time mends.
func moreUrgent(a, b identity.Reason) identity.Reason {
	for _, r := range []identity.Reason{identity.Invalid, identity.Denied, identity.Unreachable} {
		if a == r || b == r {
			return r
		}
	}
	return b
}
