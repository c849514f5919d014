// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runneridentity"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
)

const soon, often = 30 * time.Second, 50 * time.Millisecond

// start runs the controller as the program does: with caches, watches and workers, on the real clock.
func (w *world) start(t *testing.T, change ...func(*runneridentity.Controller)) *prometheus.Registry {
	t.Helper()
	mgr, err := ctrl.NewManager(w.cluster.Config, ctrl.Options{
		Scheme:  w.Scheme(),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			ByObject:          runneridentity.CacheOptions(),
			DefaultNamespaces: map[string]cache.Config{w.namespace: {}},
		},
	})
	require.NoError(t, err)
	c := w.controller(t)
	c.Client, c.Reader, c.Clock, c.CallWait = mgr.GetClient(), mgr.GetAPIReader(), clock.RealClock{}, 0
	for _, f := range change {
		f(c)
	}
	numbers := prometheus.NewRegistry()
	require.NoError(t, c.SetupWithManager(t.Context(), mgr, runneridentity.Options{Workers: 4, Metrics: numbers, SkipNameValidation: true}))
	run, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(run) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	return numbers
}

// eventually waits until a condition of an identity contains part.
func (w *world) eventually(t *testing.T, name, kind, part string) {
	t.Helper()
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		ri := &v1alpha1.RunnerIdentity{}
		if assert.NoError(t, w.Get(context.Background(), w.key(name), ri)) { //nolint:usetesting // CollectT has no context
			assert.Contains(t, condition(ri, kind), part)
		}
	}, soon, often)
}

func TestWatches(t *testing.T) {
	w := newWorld(t)
	w.newAccount(t, "mine", nil)
	w.start(t)
	w.newIdentity(t, "ci")
	w.newIdentity(t, "adopts", annotate, runAs("mine"))
	w.eventually(t, "ci", v1alpha1.ConditionReady, "True")
	w.eventually(t, "adopts", v1alpha1.ConditionReady, "True")

	t.Run("an account deleted by hand comes back", func(t *testing.T) {
		before := w.account(t, "ci-runner")
		require.NoError(t, w.Delete(t.Context(), before))
		w.comesBack(t, "ci-runner", before.UID, &corev1.ServiceAccount{})
	})
	t.Run("so does an adopted one, as our own now", func(t *testing.T) {
		before := w.account(t, "mine")
		require.NoError(t, w.Delete(t.Context(), before))
		w.comesBack(t, "mine", before.UID, &corev1.ServiceAccount{})
		assert.Len(t, w.account(t, "mine").OwnerReferences, 1)
	})
	t.Run("and the Secret, without a call of the cloud", func(t *testing.T) {
		calls := w.cloud.Calls(simaws.ECR, "GetAuthorizationToken")
		before := w.secret(t, "ci-registry")
		require.NoError(t, w.Delete(t.Context(), before))
		w.comesBack(t, "ci-registry", before.UID, &corev1.Secret{})
		assert.Equal(t, calls, w.cloud.Calls(simaws.ECR, "GetAuthorizationToken"))
	})
	t.Run("a provider's new rule and a namespace's new label are seen", func(t *testing.T) {
		p := &v1alpha1.IdentityProvider{}
		require.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: w.provider}, p))
		p.Spec.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"ci": "yes"}}
		require.NoError(t, w.Update(t.Context(), p))
		w.eventually(t, "ci", v1alpha1.ConditionReady, "False NotAllowed")

		ns := &corev1.Namespace{}
		require.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: w.namespace}, ns))
		ns.Labels["ci"] = "yes"
		require.NoError(t, w.Update(t.Context(), ns))
		w.eventually(t, "ci", v1alpha1.ConditionReady, "True")
	})
}

// comesBack waits for another object of the name.
func (w *world) comesBack(t *testing.T, name string, not any, o client.Object) {
	t.Helper()
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		if assert.NoError(t, w.Get(context.Background(), w.key(name), o)) { //nolint:usetesting // CollectT has no context
			assert.NotEqual(t, not, o.GetUID())
		}
	}, soon, often)
}

func TestASlowCloudHoldsUpNobodyElse(t *testing.T) {
	w := newWorld(t)
	stuck, url := w.newCloud(t)
	require.NoError(t, stuck.Inject(simaws.Fault{Kind: simaws.Slow, Delay: time.Hour}))
	slow := w.newProvider(t, w.namespace+"-slow", url, nil)
	for i := range 25 {
		w.newIdentity(t, fmt.Sprintf("slow-%d", i), func(s *v1alpha1.RunnerIdentitySpec) { s.IdentityProvider = slow })
	}
	for i := range 25 {
		w.newIdentity(t, fmt.Sprintf("fast-%d", i))
	}
	// With a deadline that never comes in this test, whoever waited for the slow one would wait for ever.
	w.start(t, func(c *runneridentity.Controller) { c.CallTimeout = time.Hour })
	for i := range 25 {
		w.eventually(t, fmt.Sprintf("fast-%d", i), v1alpha1.ConditionReady, "True")
	}
	for i := range 25 {
		w.eventually(t, fmt.Sprintf("slow-%d", i), v1alpha1.ConditionServiceAccountReady, "True")
		assert.NotContains(t, condition(w.identity(t, fmt.Sprintf("slow-%d", i)), v1alpha1.ConditionReady), "True")
	}
}

func TestACallHasADeadline(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.cloud.Inject(simaws.Fault{Kind: simaws.Slow, Delay: time.Hour}))
	c := w.controller(t)
	c.CallTimeout = 200 * time.Millisecond
	w.newIdentity(t, "ci")
	ri, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionPrincipalVerified), "False CloudUnreachable")
	assert.NotNil(t, ri.Status.Plan)
}
