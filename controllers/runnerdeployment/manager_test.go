// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runnerdeployment"
)

const soon, often = 60 * time.Second, 50 * time.Millisecond

// manage runs the controller as main does: in a manager, with watches and caches.
func (w *world) manage() *prometheus.Registry {
	w.Helper()
	objects, err := runnerdeployment.CacheOptions()
	require.NoError(w, err)
	manager, err := ctrl.NewManager(w.config, ctrl.Options{
		Scheme:     w.user.Scheme(),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Cache:      cache.Options{ByObject: objects, DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
	})
	require.NoError(w, err)
	registry := prometheus.NewRegistry()
	o := w.options(nil)
	o.Client, o.Reader, o.Events = manager.GetClient(), manager.GetAPIReader(), manager.GetEventRecorder("runner-identity")
	o.Metrics, err = runnerdeployment.NewMetrics(registry)
	require.NoError(w, err)
	require.NoError(w, runnerdeployment.New(o).SetupWithManager(manager))

	ctx, cancel := context.WithCancel(w.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- manager.Start(ctx) }()
	w.Cleanup(func() {
		cancel()
		assert.NoError(w, <-stopped)
	})
	return registry
}

func TestRunsInAManagerOnWatchesAlone(t *testing.T) {
	w := newWorld(t)
	w.manage()
	w.deployment("ci", 3, withIdentity)
	require.Eventually(t, func() bool {
		return w.user.Get(t.Context(), w.key("ci"), &v1alpha1.RunnerIdentity{}) == nil
	}, soon, often)
	w.publish("ci", metav1.ConditionTrue, v1alpha1.ReasonAccountApplied, "", plan("arn:aws:iam::111122223333:role/ci"))
	require.Eventually(t, func() bool { return len(w.pods("ci")) == 3 && len(w.registered()) == 3 }, soon, often)
	first := w.podNames("ci")
	w.runs(first...)
	require.Eventually(t, func() bool { return w.read("ci").Status.ReadyReplicas == 3 }, soon, often, "a pod that runs is seen")

	w.done(first[0])
	require.Eventually(t, func() bool {
		names := w.podNames("ci")
		return len(names) == 3 && names[0] != first[0] && len(w.records("ci")) == 3
	}, soon, often, "a pod that ended is seen")

	w.scale("ci", 0)
	require.Eventually(t, func() bool { return len(w.records("ci"))+len(w.pods("ci"))+len(w.registered()) == 0 }, soon, often)
	require.NoError(t, w.user.Delete(t.Context(), w.read("ci")))
	require.Eventually(t, func() bool { return w.isGone("ci") }, soon, often)
}

func TestMetricsCountRunnersByStateAndResult(t *testing.T) {
	w := newWorld(t)
	registry := w.manage()
	w.deployment("ci", 2)
	require.Eventually(t, func() bool { return w.read("ci").Status.Replicas == 2 && len(w.pods("ci")) == 2 }, soon, often)
	names := w.podNames("ci")
	w.runs(names[0])
	require.Eventually(t, func() bool { return gauge(t, registry, "running") == 1 && gauge(t, registry, "pending") == 1 }, soon, often)
	w.state(names[1], corev1.PodFailed)
	require.Eventually(t, func() bool { return w.read("ci").Status.Failures == 1 }, soon, often)
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)
	assert.EqualValues(t, 1, value(t, registry, "runner_identity_runners_ended_total", "failed"))
	assert.EqualValues(t, 2, value(t, registry, "runner_identity_runners_created_total", ""))
}

func gauge(t *testing.T, registry *prometheus.Registry, state string) float64 {
	t.Helper()
	return value(t, registry, "runner_identity_runners", state)
}

// value is that of the metric with a label of the given value.
func value(t *testing.T, registry *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return 0
}
