// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runnerdeployment"
)

// lag replaces the controller by one whose cache answers each list with what it answered when the lag began.
func (w *world) lag() {
	direct := newClient(w, w.config)
	var mu sync.Mutex
	seen := map[string]client.ObjectList{}
	lagging := interceptor.NewClient(direct, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			mu.Lock()
			defer mu.Unlock()
			kind, err := c.GroupVersionKindFor(list)
			if err != nil {
				return err
			}
			if seen[kind.Kind] == nil {
				if err := c.List(ctx, list, opts...); err != nil {
					return err
				}
				seen[kind.Kind] = list.DeepCopyObject().(client.ObjectList)
			}
			items, err := meta.ExtractList(seen[kind.Kind].DeepCopyObject())
			if err != nil {
				return err
			}
			return meta.SetList(list, items)
		},
	})
	o := w.options(direct)
	o.Client = lagging
	w.controller = runnerdeployment.New(o)
}

func TestACacheThatLagsMakesNoRunnerTooMany(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 7)
	w.lag()
	w.hammer("ci")
	w.consistent("ci", 7)
}

func TestACacheThatLagsEndsNoRunnerTooMany(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 7)
	w.settle("ci")
	w.runs(w.podNames("ci")...)
	w.scale("ci", 4)
	w.lag()
	w.hammer("ci")
	w.consistent("ci", 4)
}

func TestACacheThatLagsDoesNotTakeANewRunnerForALostOne(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2)
	w.settle("ci")
	names := w.podNames("ci")
	direct := newClient(w, w.config)
	o := w.options(direct)
	o.Client = interceptor.NewClient(direct, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, isPods := list.(*corev1.PodList); isPods {
				return nil // no pod has come through the watch yet
			}
			return c.List(ctx, list, opts...)
		},
	})
	w.controller = runnerdeployment.New(o)
	w.line.mend(0, false)
	w.hammer("ci")
	assert.Equal(t, names, w.podNames("ci"))
	assert.Empty(t, w.line.sent())
}

func TestTheBackOffHoldsAlthoughTheCacheHasAnOldStatus(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1)
	w.settle("ci")
	old := w.read("ci")
	direct := newClient(w, w.config)
	o := w.options(direct)
	o.Client = interceptor.NewClient(direct, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
			if d, ok := into.(*v1alpha1.RunnerDeployment); ok {
				old.DeepCopyInto(d)
				return nil
			}
			return c.Get(ctx, key, into, opts...)
		},
	})
	w.controller = runnerdeployment.New(o)
	w.state(w.podNames("ci")[0], corev1.PodFailed)
	w.settle("ci")
	assert.Empty(t, w.podNames("ci"))
	w.step(time.Second)
	w.settle("ci")
	assert.Empty(t, w.podNames("ci"))
	assert.EqualValues(t, 1, w.read("ci").Status.Failures)
}

// hammer reconciles many times at once.
func (w *world) hammer(name string) {
	w.Helper()
	var all sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		all.Go(func() {
			for range 3 {
				if _, err := w.pass(name); err != nil {
					errs[i] = err
				}
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(w, err)
	}
}
