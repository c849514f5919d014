// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/github"
	"github.com/runner-identity/runner-identity/podspec"
)

const (
	nameSuffix   = 5
	nameAttempts = 5
)

// newRunners writes the records of runners to be made.
func (c *Controller) newRunners(ctx context.Context, s *scope, n int) ([]runner, error) {
	to := targetOf(s.deployment)
	var made []runner
	var errs []error
	for _, one := range parallel(make([]struct{}, n), func(struct{}) result { return c.newRunner(ctx, s, to) }) {
		if one.err == nil {
			s.put(one.of, false)
			made = append(made, one.of)
		}
		errs = append(errs, one.err)
	}
	return made, errors.Join(errs...)
}

func (c *Controller) newRunner(ctx context.Context, s *scope, to target) result {
	var err error
	for range nameAttempts {
		secret := newRecord(s.deployment, s.deployment.Name+"-"+rand.String(nameSuffix), s.hash, to)
		err = c.Client.Create(ctx, secret, client.FieldOwner(v1alpha1.FieldOwner))
		if err == nil {
			return result{of: runner{record: record{
				name: secret.Name, uid: secret.UID, hash: s.hash, target: to, registered: secret.CreationTimestamp.Time,
			}}}
		}
		if !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	return result{err: fmt.Errorf("create runner Secret: %w", err)}
}

// complete takes a runner through the steps that are missing: GitHub, JIT config in the record, pod, uid in the record.
func (c *Controller) complete(ctx context.Context, s *scope, r runner) result {
	if r.record.id == 0 {
		if done := c.register(ctx, s, &r); done != nil {
			return *done
		}
	}
	done := result{of: r, asked: r.record.fresh}
	if r.pod == nil {
		if done = c.createPod(ctx, s, r); done.of.pod == nil {
			return done
		}
	}
	if done.of.record.leaving || done.err != nil {
		return done
	}
	uid := done.of.pod.uid
	done.err = c.annotate(ctx, s, r.record, map[string]string{annotationPod: string(uid)}, nil)
	if done.err == nil {
		done.of.record.pod = uid
	}
	return done
}

// register registers a runner and stores what it starts with. The result is nil if that went well.
func (c *Controller) register(ctx context.Context, s *scope, r *runner) *result {
	var registered github.Runner
	err := c.ask(ctx, s, r.record.target, func(ctx context.Context, g GitHub) (err error) {
		registered, err = c.registerAnew(ctx, g, s.registration(r.record.name))
		return err
	})
	if errors.Is(err, github.ErrBusy) {
		// A runner of another owner runs a job under this name. Ours takes another name, with another record.
		done := c.end(ctx, s, *r)
		return &done
	}
	if problem := c.troubleOf(err); problem != nil {
		return &result{of: *r, trouble: problem}
	}
	now := c.Clock.Now()
	err = c.annotate(ctx, s, r.record, map[string]string{
		v1alpha1.AnnotationRunnerID: strconv.FormatInt(registered.ID, 10),
		annotationRegistered:        now.UTC().Format(time.RFC3339),
	}, map[string][]byte{podspec.SecretKeyJITConfig: []byte(registered.JITConfig.Reveal())})
	if err != nil {
		return &result{of: *r, asked: true, err: err}
	}
	r.record.id, r.record.registered, r.record.fresh = registered.ID, now, true
	logf.FromContext(ctx).Info("registered runner", "runner", r.record.name, "id", registered.ID)
	return nil
}

// registerAnew registers a runner. A registration of that name is one whose answer was lost, by a crash or on the way: its JIT
// config is gone, so it is removed first.
func (c *Controller) registerAnew(ctx context.Context, g GitHub, r github.Registration) (github.Runner, error) {
	registered, err := g.Register(ctx, r)
	if !errors.Is(err, github.ErrNameTaken) {
		return registered, err
	}
	stale, found, err := g.Find(ctx, r.Name)
	if err == nil && found {
		err = g.Remove(ctx, stale.ID)
	}
	if err != nil {
		return github.Runner{}, err
	}
	return g.Register(ctx, r)
}

func (s *scope) registration(name string) github.Registration {
	spec := s.deployment.Spec.Template.Spec
	return github.Registration{Name: name, Labels: spec.Labels, Group: spec.Group, WorkDir: spec.WorkDir}
}

// annotate writes into a record. The uid makes it fail if the Secret is another one by now.
func (c *Controller) annotate(ctx context.Context, s *scope, r record, annotations map[string]string, data map[string][]byte) error {
	patch := map[string]any{"metadata": map[string]any{"uid": r.uid, "annotations": annotations}}
	if data != nil {
		patch["data"] = data
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode patch of Secret %s: %w", r.name, err)
	}
	err = c.Client.Patch(ctx, s.secret(r), client.RawPatch(types.MergePatchType, body), client.FieldOwner(v1alpha1.FieldOwner))
	if err != nil {
		return fmt.Errorf("write runner Secret %s: %w", r.name, err)
	}
	return nil
}
