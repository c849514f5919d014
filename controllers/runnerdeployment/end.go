// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/github"
)

// end takes a runner away: mark, GitHub, pod, record. If GitHub says that it runs a job, it stays marked and goes on.
func (c *Controller) end(ctx context.Context, s *scope, r runner) result {
	done := result{of: r}
	if !r.record.leaving {
		if done.err = c.mark(ctx, s, r.record); done.err != nil {
			return done
		}
		done.marked = r.end(s.now)
		if done.marked == undecided {
			done.marked = retired
		}
		done.of.record.leaving = true
	}
	if !s.forced() {
		done.busy, done.trouble = c.unregister(ctx, s, r.record)
		done.asked = done.trouble == nil
		if done.busy || done.trouble != nil {
			return done
		}
	}
	if r.pod != nil && !r.pod.leaving {
		if done.err = c.deletePod(ctx, s, r); done.err != nil {
			return done
		}
	}
	done.err = c.letGo(ctx, s, r.record)
	done.gone = done.err == nil
	if done.gone {
		logf.FromContext(ctx).Info("removed runner", "runner", r.record.name, "id", r.record.id)
	}
	return done
}

// mark deletes a record; its finalizer keeps it. What comes after can be done again by whoever finds the mark.
func (c *Controller) mark(ctx context.Context, s *scope, r record) error {
	err := c.Client.Delete(ctx, s.secret(r), client.Preconditions{UID: &r.uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s: %w", r.name, err)
	}
	return nil
}

// unregister removes the runner from GitHub, by its name if its id is not known.
func (c *Controller) unregister(ctx context.Context, s *scope, r record) (busy bool, _ *trouble) {
	id := r.id
	err := c.ask(ctx, s, r.target, func(ctx context.Context, g GitHub) (err error) {
		if id == 0 {
			found, ok, err := g.Find(ctx, r.name)
			if err != nil || !ok {
				return err
			}
			id = found.ID
		}
		return g.Remove(ctx, id)
	})
	if errors.Is(err, github.ErrBusy) {
		// Without an id there never was a JIT config, nor a pod: what runs a job under this name is not ours.
		return r.id != 0, nil
	}
	return false, c.troubleOf(err)
}

func (c *Controller) deletePod(ctx context.Context, s *scope, r runner) error {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.deployment.Namespace, Name: r.record.name}}
	if err := c.Client.Delete(ctx, p, client.Preconditions{UID: &r.pod.uid}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete pod %s: %w", r.record.name, err)
	}
	return nil
}

// letGo takes our finalizer off a record. The test keeps a finalizer that another put in its place meanwhile.
func (c *Controller) letGo(ctx context.Context, s *scope, r record) error {
	if r.finalizer < 0 {
		return nil
	}
	patch := fmt.Appendf(nil, `[{"op":"test","path":"/metadata/finalizers/%d","value":%q},{"op":"remove","path":"/metadata/finalizers/%[1]d"}]`,
		r.finalizer, v1alpha1.Finalizer)
	err := c.Client.Patch(ctx, s.secret(r), client.RawPatch(types.JSONPatchType, patch))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take finalizer off Secret %s: %w", r.name, err)
	}
	return nil
}

// secret is a record's Secret for writes that send and receive its metadata only.
func (s *scope) secret(r record) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: s.deployment.Namespace, Name: r.name}}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return m
}
