// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/resolve"
)

// A scope is what the phases of one reconciliation share.
type scope struct {
	// identity is the object. Phases set its status; save writes it.
	identity *v1alpha1.RunnerIdentity
	// before is the object as it was read. Set by newScope.
	before *v1alpha1.RunnerIdentity
	// outOfPatience is closed when this reconciliation has waited for clouds long enough. Set by newScope.
	outOfPatience <-chan struct{}
	// current are the identity's accounts as they are, by name; an account that does not exist is missing. Set by resolve.
	current map[string]*corev1.ServiceAccount
	// resolved is what the identity comes to. Set by resolve.
	resolved resolve.Resolved
	// wake is when to come again if nothing changes. Zero: never. Set by wakeAt.
	wake time.Time
}

// errStop ends the phases without being an error: a condition says why.
var errStop = errors.New("stop")

type phase func(context.Context, *scope) error

func newScope(ri *v1alpha1.RunnerIdentity, outOfPatience <-chan struct{}) *scope {
	return &scope{identity: ri, before: ri.DeepCopy(), outOfPatience: outOfPatience, current: map[string]*corev1.ServiceAccount{}}
}

// run runs the phases until one of them stops or fails.
func (s *scope) run(ctx context.Context, phases ...phase) error {
	for _, p := range phases {
		if err := p(ctx, s); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// wakeAt asks for a reconciliation at t, or earlier. The zero time asks for none.
func (s *scope) wakeAt(t time.Time) {
	if !t.IsZero() && (s.wake.IsZero() || t.Before(s.wake)) {
		s.wake = t
	}
}

func (s *scope) result(now time.Time) reconcile.Result {
	if s.wake.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: max(s.wake.Sub(now), time.Millisecond)}
}

// condition sets a condition for the generation that was read.
func (s *scope) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	v1alpha1.SetCondition(&s.identity.Status.Conditions, s.identity.Generation, kind, status, reason, message)
}
