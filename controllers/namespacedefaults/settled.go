// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// A settled is how a place stands after a look at it.
type settled struct {
	// keep is whether the place's RunnerIdentity, if there is one, stays.
	keep bool
	// ready is whether the account has its identity.
	ready bool
	// reason and message say what is wrong, or what is awaited. Empty if nothing is.
	reason, message string
	// loginsOnly is whether the account, ready or not, is given nothing but registry logins.
	loginsOnly bool
}

// conflict is for a place that is somebody else's.
func conflict(reason, message string) settled { return settled{reason: reason, message: message} }

// wrong is for a place that keeps what it has until somebody mends what is wrong.
func wrong(reason, message string) settled {
	return settled{keep: true, reason: reason, message: message}
}

// waiting is for a place that only takes time.
func waiting(message string) settled { return wrong(v1alpha1.ReasonProgressing, message) }

// taken is for a RunnerIdentity that has the name and is not ours.
func taken(live *v1alpha1.RunnerIdentity) settled {
	if madeByMapping(live) {
		return waiting(fmt.Sprintf("RunnerIdentity %q is that of an IdentityProvider that is gone, and goes too", live.Name))
	}
	return conflict(v1alpha1.ReasonIdentityConflict,
		fmt.Sprintf("RunnerIdentity %q exists already and is not this mapping's; delete it, or give the mapping another name", live.Name))
}

// judge says how far a RunnerIdentity is, in its own words.
func judge(live *v1alpha1.RunnerIdentity) settled {
	ready := meta.FindStatusCondition(live.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case !live.DeletionTimestamp.IsZero():
		return waiting(fmt.Sprintf("RunnerIdentity %q is being deleted; it is made again then", live.Name))
	case ready == nil || ready.ObservedGeneration != live.Generation:
		return waiting(fmt.Sprintf("RunnerIdentity %q has not been seen to yet", live.Name))
	case ready.Status == metav1.ConditionTrue:
		return settled{keep: true, ready: true}
	case ready.Status == metav1.ConditionUnknown:
		return waiting(ready.Message)
	}
	return wrong(ready.Reason, ready.Message)
}
