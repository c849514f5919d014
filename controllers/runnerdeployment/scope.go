// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// AnnotationForceDelete on a RunnerDeployment that is being deleted ends all of its runners without asking GitHub, even those
// that run jobs: for when the GitHub credentials are gone for good.
const AnnotationForceDelete = v1alpha1.Group + "/force-delete"

// scope is one pass over one RunnerDeployment.
type scope struct {
	// deployment is a copy of the object. Phases change its status, which is written at the end. Set by newScope.
	deployment *v1alpha1.RunnerDeployment
	// before is the status as it was last written. Set by newScope.
	before v1alpha1.RunnerDeploymentStatus
	// gone is whether there is no such object any more, only runners of it. Set by newScope.
	gone   bool
	memory *memory
	now    time.Time
	// identity is the RunnerIdentity, nil if none is asked for or it is not there yet. Set by identify.
	identity *v1alpha1.RunnerIdentity
	// plan is what the identity gives to runner pods. Set by identify.
	plan *v1alpha1.PodPlan
	// halt is why no runner can be made, whatever GitHub says. Set by identify, render and grow.
	halt *trouble
	// hash is the hash of the present template, empty if it is not known. Set by render.
	hash string
	// runners are those that there are. Set by observe, kept up to date by the phases after it.
	runners []runner
	// hubs are the GitHub clients that this pass opened.
	hubs map[target]opened
	// asked is whether GitHub answered, github why it did not. Set by the phases that ask it.
	asked  bool
	github *trouble
	// observed is whether runners are known. Set by observe.
	observed bool
	// released is whether the finalizer is off. Set by release.
	released bool
	// wake is when to come back; zero: when something changes.
	wake time.Time
}

// opened is a GitHub client, or why there is none.
type opened struct {
	hub     *hub
	trouble *trouble
}

// newScope reads the deployment. It is nil if there is nothing of it any more.
func (c *Controller) newScope(ctx context.Context, key types.NamespacedName, remembered *memory) (*scope, error) {
	d := &v1alpha1.RunnerDeployment{}
	s := &scope{deployment: d, memory: remembered, now: c.Clock.Now(), hubs: map[target]opened{}}
	err := c.Client.Get(ctx, key, d)
	if apierrors.IsNotFound(err) {
		return c.goneScope(ctx, key, s)
	}
	if err != nil {
		return nil, fmt.Errorf("read RunnerDeployment %s: %w", key, err)
	}
	remembered.load(d.UID, &d.Status)
	s.before = *d.Status.DeepCopy()
	return s, nil
}

// goneScope is for a deployment that was taken away together with its finalizer. What is left of it is ended as if it
// was being deleted: records say themselves where they are registered.
func (c *Controller) goneScope(ctx context.Context, key types.NamespacedName, s *scope) (*scope, error) {
	s.deployment.Namespace, s.deployment.Name = key.Namespace, key.Name
	s.gone = true
	left, err := c.records(ctx, c.Client, s)
	if err != nil {
		return nil, err
	}
	if len(left) == 0 {
		c.forget(key)
		return nil, nil
	}
	// A cache may lag behind; idle runners are not ended for that.
	err = c.Reader.Get(ctx, key, &v1alpha1.RunnerDeployment{})
	if !apierrors.IsNotFound(err) {
		s.gone = false
		return nil, err
	}
	return s, nil
}

func (s *scope) deleting() bool { return s.gone || s.deployment.DeletionTimestamp != nil }

// forced is whether runners are ended without GitHub's leave.
func (s *scope) forced() bool {
	return s.deleting() && s.deployment.Annotations[AnnotationForceDelete] == "true"
}

// decide is what is to be done about the runners as they are known now.
func (s *scope) decide() work {
	w := decide(wanted{
		replicas: s.replicas(), hash: s.hash, hold: s.held(), all: s.deleting(), now: s.now,
	}, s.runners)
	s.wake = sooner(s.wake, w.wake)
	if s.memory.retryAt.After(s.now) {
		s.wake = sooner(s.wake, s.memory.retryAt)
	}
	if refused := s.memory.refusal(s.hash, s.now); refused != nil {
		s.wake = sooner(s.wake, refused.until)
	}
	return w
}

func (s *scope) replicas() int {
	if s.deployment.Spec.Replicas == nil {
		return 1
	}
	return int(*s.deployment.Spec.Replicas)
}

// held is whether no runner may be made now.
func (s *scope) held() bool {
	return s.halt != nil || s.memory.retryAt.After(s.now) || s.memory.refusal(s.hash, s.now) != nil
}

// put replaces what is known of a runner, or drops it.
func (s *scope) put(r runner, gone bool) {
	i := slices.IndexFunc(s.runners, func(known runner) bool { return known.record.name == r.record.name })
	switch {
	case gone && i >= 0:
		s.runners = slices.Delete(s.runners, i, i+1)
	case !gone && i >= 0:
		s.runners[i] = r
	case !gone:
		s.runners = append(s.runners, r)
	}
}

// condition sets one of the deployment's conditions.
func (s *scope) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	v1alpha1.SetCondition(&s.deployment.Status.Conditions, s.deployment.Generation, kind, status, reason, message)
}
