// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

// observe reads the runners: from the cache, and once more from the API server if there is something to do about them. A cache
// that lags behind may thus cost two reads, but never makes a runner too many or ends a wrong one.
func (c *Controller) observe(ctx context.Context, s *scope) error {
	if err := c.read(ctx, c.Client, s); err != nil || s.decide().none() {
		return err
	}
	s.wake = time.Time{}
	if err := c.read(ctx, c.Reader, s); err != nil {
		return err
	}
	return c.seek(ctx, s)
}

// read joins records and pods by name. Records come first: a pod is never older than its record.
func (c *Controller) read(ctx context.Context, from client.Reader, s *scope) error {
	records, err := c.records(ctx, from, s)
	if err != nil {
		return err
	}
	pods := &corev1.PodList{}
	if err := from.List(ctx, pods, s.own()...); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	byName := map[string]*corev1.Pod{}
	for i := range pods.Items {
		byName[pods.Items[i].Name] = &pods.Items[i]
	}
	s.runners, s.observed = nil, true
	for _, r := range records {
		one := runner{record: r}
		if p := byName[r.name]; p != nil && ownedBy(p, r) {
			one.pod = podOf(p)
		}
		if !s.forced() {
			one.busyUntil = s.memory.busyUntil(one)
		}
		s.runners = append(s.runners, one)
	}
	return nil
}

// records lists a deployment's records, their metadata only: JIT configs stay where they are.
func (c *Controller) records(ctx context.Context, from client.Reader, s *scope) ([]record, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := from.List(ctx, list, s.own()...); err != nil {
		return nil, fmt.Errorf("list runner Secrets: %w", err)
	}
	present := targetOf(s.deployment)
	var records []record
	for i := range list.Items {
		records = append(records, recordOf(&list.Items[i], present))
	}
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(a.name, b.name) })
	return records, nil
}

// seek looks by name for pods that seem to be gone: somebody may have taken our label off one.
func (c *Controller) seek(ctx context.Context, s *scope) error {
	for i, r := range s.runners {
		if r.pod != nil || r.record.id == 0 {
			continue
		}
		found := &corev1.Pod{}
		err := c.Reader.Get(ctx, types.NamespacedName{Namespace: s.deployment.Namespace, Name: r.record.name}, found)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("read pod %s: %w", r.record.name, err)
		case ownedBy(found, r.record):
			s.runners[i].pod = podOf(found)
		}
	}
	return nil
}

// own selects what belongs to the deployment.
func (s *scope) own() []client.ListOption {
	return []client.ListOption{
		client.InNamespace(s.deployment.Namespace),
		client.MatchingLabels{v1alpha1.LabelRunnerDeployment: s.deployment.Name},
	}
}

// ownedBy is whether the pod was made for the record.
func ownedBy(p metav1.Object, r record) bool {
	owner := metav1.GetControllerOf(p)
	return owner != nil && owner.UID == r.uid
}

// podOf reads what matters of a pod. A runner has ended when its container has: sidecars may keep the pod running.
func podOf(p *corev1.Pod) *pod {
	out := &pod{
		uid: p.UID, created: p.CreationTimestamp.Time,
		running: p.Status.Phase == corev1.PodRunning, leaving: p.DeletionTimestamp != nil,
	}
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		out.outcome = succeeded
	case corev1.PodFailed:
		out.outcome, out.cause = failed, cmp.Or(p.Status.Reason, "the pod failed")
	}
	for _, status := range p.Status.ContainerStatuses {
		if ended := status.State.Terminated; status.Name == podspec.RunnerContainer && ended != nil {
			out.outcome, out.running = succeeded, false
			if ended.ExitCode != 0 {
				out.outcome = failed
				out.cause = fmt.Sprintf("exit code %d, %s", ended.ExitCode, cmp.Or(ended.Reason, "Error"))
			}
		}
	}
	return out
}
