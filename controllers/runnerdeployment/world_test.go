// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runnerdeployment"
	"github.com/runner-identity/runner-identity/github"
	"github.com/runner-identity/runner-identity/testbed/cluster"
	githubsim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestMain(m *testing.M) {
	logf.SetLogger(logr.Discard())
	cluster.Main(m, "../../config/crd")
}

const (
	token = "ghp_simulated"
	// githubTimeout is long enough for a loaded machine, and short enough to wait for.
	githubTimeout = 3 * time.Second
)

// A world is a namespace on a real API server, a GitHub, and a controller between them that runs when it is told to.
type world struct {
	*testing.T
	namespace string
	// user is for the test's own doings, which are not counted.
	user       client.Client
	github     *githubsim.Simulator
	server     *httptest.Server
	clock      *clocktesting.FakePassiveClock
	line       *line
	controller *runnerdeployment.Controller
	events     *events.FakeRecorder
	config     *rest.Config
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := cluster.Shared(t)
	w := &world{
		T: t, namespace: c.Namespace(t), line: &line{},
		clock:  clocktesting.NewFakePassiveClock(time.Now()),
		events: events.NewFakeRecorder(10_000),
	}
	w.github = githubsim.New(githubsim.Options{Tokens: []githubsim.Token{{Value: token, Scopes: []string{"*"}}}, Clock: w.clock})
	w.server = httptest.NewServer(w.github)
	t.Cleanup(w.server.Close)
	w.user = newClient(t, c.Config)
	w.config = rest.CopyConfig(c.Config)
	w.config.Wrap(w.line.through)
	w.restart()
	w.create(w.credentials("github"))
	t.Cleanup(w.freeAll)
	return w
}

// restart starts the controller anew, with no memory.
func (w *world) restart() {
	direct := newClient(w, w.config)
	w.controller = runnerdeployment.New(w.options(direct))
}

func (w *world) options(direct client.Client) runnerdeployment.Options {
	return runnerdeployment.Options{
		Client: direct, Reader: direct, Connect: w.connect(), Events: w.events, Clock: w.clock, DefaultImage: "runner.test/runner:1",
	}
}

func (w *world) connect() runnerdeployment.Connect {
	pool := github.NewPool(github.WithClock(w.clock), github.WithTimeout(githubTimeout), github.WithTransport(w.line.through(http.DefaultTransport)))
	return func(_ context.Context, data map[string][]byte, scope github.Scope) (runnerdeployment.GitHub, error) {
		credentials, err := github.ParseCredentials(data)
		if err != nil {
			return nil, err
		}
		return pool.Client(credentials, scope)
	}
}

func newClient(t require.TestingT, config *rest.Config) client.WithWatch {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	return c
}

func (w *world) credentials(name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		StringData: map[string]string{"github_token": token, "github_enterprise_url": w.server.URL},
	}
}

// deployment makes a RunnerDeployment without identity.
func (w *world) deployment(name string, replicas int32, change ...func(*v1alpha1.RunnerDeployment)) *v1alpha1.RunnerDeployment {
	w.Helper()
	d := &v1alpha1.RunnerDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: v1alpha1.RunnerDeploymentSpec{Replicas: &replicas, Template: v1alpha1.RunnerTemplate{Spec: v1alpha1.RunnerSpec{
			Organization:             "acme",
			GitHubAPICredentialsFrom: &v1alpha1.GitHubCredentials{SecretRef: v1alpha1.SecretReference{Name: "github"}},
		}}},
	}
	for _, f := range change {
		f(d)
	}
	w.create(d)
	return d
}

func (w *world) create(o client.Object) {
	w.Helper()
	require.NoError(w, w.user.Create(w.Context(), o))
}

// edit changes a deployment as a user does.
func (w *world) edit(name string, change func(*v1alpha1.RunnerDeployment)) {
	w.Helper()
	d := w.read(name)
	base := d.DeepCopy()
	change(d)
	require.NoError(w, w.user.Patch(w.Context(), d, client.MergeFrom(base)))
}

func (w *world) scale(name string, replicas int32) {
	w.Helper()
	w.edit(name, func(d *v1alpha1.RunnerDeployment) { d.Spec.Replicas = &replicas })
}

func (w *world) read(name string) *v1alpha1.RunnerDeployment {
	w.Helper()
	d := &v1alpha1.RunnerDeployment{}
	require.NoError(w, w.user.Get(w.Context(), w.key(name), d))
	return d
}

func (w *world) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: name}
}

// pass reconciles once.
func (w *world) pass(name string) (reconcile.Result, error) {
	return w.controller.Reconcile(w.Context(), reconcile.Request{NamespacedName: w.key(name)})
}

// settle reconciles until a pass writes nothing.
func (w *world) settle(name string) reconcile.Result {
	w.Helper()
	for range 30 {
		before := len(w.line.sent())
		result, err := w.pass(name)
		require.NoError(w, err)
		if len(w.line.sent()) == before {
			return result
		}
	}
	require.Fail(w, "the controller does not come to rest", "%q", w.line.sent())
	return reconcile.Result{}
}

// pods are the runner pods of a deployment by age.
func (w *world) pods(name string) []corev1.Pod {
	w.Helper()
	list := &corev1.PodList{}
	require.NoError(w, w.user.List(w.Context(), list, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.LabelRunnerDeployment: name}))
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list.Items
}

func (w *world) podNames(name string) []string {
	w.Helper()
	var names []string
	for _, p := range w.pods(name) {
		names = append(names, p.Name)
	}
	return names
}

// records are the names of the runner Secrets of a deployment.
func (w *world) records(name string) []string {
	w.Helper()
	list := &corev1.SecretList{}
	require.NoError(w, w.user.List(w.Context(), list, client.InNamespace(w.namespace), client.MatchingLabels{v1alpha1.LabelRunnerDeployment: name}))
	var names []string
	for _, s := range list.Items {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// registered are the names of the runners that GitHub knows.
func (w *world) registered() []string {
	var names []string
	for _, r := range w.github.Runners() {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

// state puts a pod in a phase, as a kubelet does.
func (w *world) state(name string, phase corev1.PodPhase) {
	w.Helper()
	p := &corev1.Pod{}
	require.NoError(w, w.user.Get(w.Context(), w.key(name), p))
	p.Status.Phase = phase
	require.NoError(w, w.user.Status().Update(w.Context(), p))
}

// runs makes a pod run, and its runner connect to GitHub.
func (w *world) runs(names ...string) {
	w.Helper()
	for _, name := range names {
		w.state(name, corev1.PodRunning)
		require.True(w, w.github.Set(name, githubsim.Online), name)
	}
}

// busy gives runners a job.
func (w *world) busy(names ...string) {
	w.Helper()
	for _, name := range names {
		require.True(w, w.github.Set(name, githubsim.Busy), name)
	}
}

// done ends the jobs of runners: GitHub forgets them, their pods end well.
func (w *world) done(names ...string) {
	w.Helper()
	for _, name := range names {
		require.True(w, w.github.Set(name, githubsim.Done), name)
		w.state(name, corev1.PodSucceeded)
	}
}

func (w *world) step(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

func (w *world) condition(name, kind string) metav1.Condition {
	w.Helper()
	c := meta.FindStatusCondition(w.read(name).Status.Conditions, kind)
	require.NotNil(w, c, "condition %s", kind)
	return *c
}

// consistent requires that records, pods and registrations are the same runners, n of them.
func (w *world) consistent(name string, n int) {
	w.Helper()
	require.Len(w, w.podNames(name), n)
	require.Equal(w, w.podNames(name), w.records(name), "each pod has its record and each record its pod")
	require.Equal(w, w.podNames(name), w.registered(), "GitHub knows these runners and no others")
}

// told are the events so far.
func (w *world) told() string {
	var all []string
	for {
		select {
		case e := <-w.events.Events:
			all = append(all, e)
		default:
			return strings.Join(all, "\n")
		}
	}
}

// freeAll takes the finalizers off, so that the namespace can go.
func (w *world) freeAll() {
	ctx := context.WithoutCancel(w.Context())
	secrets, deployments := &corev1.SecretList{}, &v1alpha1.RunnerDeploymentList{}
	_ = w.user.List(ctx, secrets, client.InNamespace(w.namespace))
	_ = w.user.List(ctx, deployments, client.InNamespace(w.namespace))
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	for i := range deployments.Items {
		_ = w.user.Patch(ctx, &deployments.Items[i], patch)
	}
	for i := range secrets.Items {
		_ = w.user.Patch(ctx, &secrets.Items[i], patch)
	}
}
