// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// writeStatus writes the status, once and only if it changed. The failure is the API server's error that ended the pass.
func (c *Controller) writeStatus(ctx context.Context, s *scope, failure error) error {
	if s.gone || s.released {
		return nil
	}
	status := &s.deployment.Status
	if s.observed {
		s.count()
		c.Metrics.count(s.memory, s.states())
	}
	s.memory.tell(status)
	s.registered()
	verdict := s.ready(failure)
	s.condition(v1alpha1.ConditionReady, verdict.status, verdict.reason, verdict.message)
	if equality.Semantic.DeepEqual(s.before, *status) {
		return nil
	}
	written := status.DeepCopy()
	base := s.deployment.DeepCopy()
	base.Status = s.before
	err := c.Client.Status().Patch(ctx, s.deployment.DeepCopy(), client.MergeFrom(base), client.FieldOwner(v1alpha1.FieldOwner))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write status: %w", err)
	}
	c.reportConditions(s)
	s.memory.status = written
	return nil
}

// count counts the runners.
func (s *scope) count() {
	status := &s.deployment.Status
	if s.hash != "" {
		status.TemplateHash = s.hash
	}
	status.ObservedGeneration = s.deployment.Generation
	status.Selector = labels.SelectorFromSet(labels.Set{v1alpha1.LabelRunnerDeployment: s.deployment.Name}).String()
	status.Replicas, status.ReadyReplicas, status.UpdatedReplicas = 0, 0, 0
	for _, r := range s.runners {
		if !r.counts() {
			continue
		}
		status.Replicas++
		if r.running() {
			status.ReadyReplicas++
		}
		if r.record.hash == status.TemplateHash {
			status.UpdatedReplicas++
		}
	}
}

// registered says whether GitHub can be asked. A pass that had nothing to ask changes nothing, unless there is nothing left that an
// earlier one could not ask.
func (s *scope) registered() {
	const kind = v1alpha1.ConditionRunnersRegistered
	known := meta.FindStatusCondition(s.deployment.Status.Conditions, kind)
	switch {
	case s.github != nil:
		s.condition(kind, metav1.ConditionFalse, s.github.reason, s.github.message)
	case s.asked, known != nil && s.observed && s.decide().none():
		s.condition(kind, metav1.ConditionTrue, v1alpha1.ReasonRegistered,
			fmt.Sprintf("GitHub takes registrations and removals for %s", targetOf(s.deployment).scope))
	}
}

// verdict is what the condition Ready says.
type verdict struct {
	status  metav1.ConditionStatus
	reason  string
	message string
}

// ready sums the pass up: the first thing that a person would have to know.
func (s *scope) ready(failure error) verdict {
	status := s.deployment.Status
	refused := s.memory.refusal(s.hash, s.now)
	registered := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionRunnersRegistered)
	switch {
	case s.deleting():
		return verdict{metav1.ConditionFalse, v1alpha1.ReasonDeleting, s.leftMessage()}
	case s.halt != nil:
		return verdict{metav1.ConditionFalse, s.halt.reason, s.halt.message}
	case refused != nil:
		return verdict{metav1.ConditionFalse, refused.reason, refused.message}
	case failure != nil:
		return verdict{metav1.ConditionFalse, v1alpha1.ReasonProgressing, failure.Error()}
	case registered != nil && registered.Status == metav1.ConditionFalse:
		return verdict{metav1.ConditionFalse, registered.Reason, registered.Message}
	case status.Failures > 0:
		return verdict{metav1.ConditionFalse, v1alpha1.ReasonRunnersFailing, s.failingMessage()}
	}
	message := fmt.Sprintf("%d of %d runners run", status.ReadyReplicas, s.replicas())
	if int(status.ReadyReplicas) != s.replicas() || status.UpdatedReplicas != status.Replicas {
		return verdict{metav1.ConditionFalse, v1alpha1.ReasonScaling, message}
	}
	return verdict{metav1.ConditionTrue, v1alpha1.ReasonReady, message}
}

func (s *scope) failingMessage() string {
	return fmt.Sprintf("%d times in a row runners failed instead of ending well; new ones are made from %s on",
		s.memory.failures, s.memory.retryAt.UTC().Format(time.RFC3339))
}

// leftMessage says what the deletion waits for.
func (s *scope) leftMessage() string {
	busy := 0
	for _, r := range s.runners {
		if r.pod != nil && r.busyUntil.After(s.now) {
			busy++
		}
	}
	message := fmt.Sprintf("%d of %d runners run jobs and are waited for", busy, len(s.runners))
	if s.github != nil {
		message += fmt.Sprintf("; GitHub cannot be asked about the others: %s; annotate with %s=true to end all of them, with their jobs",
			s.github.message, AnnotationForceDelete)
	}
	return message
}
