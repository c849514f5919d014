// SPDX-License-Identifier: Apache-2.0

package namespacedefaults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/namespacedefaults"
	"github.com/runner-identity/runner-identity/controllers/runneridentity"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/gcp"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

const (
	accountID  = "111122223333"
	region     = "eu-west-1"
	host       = accountID + ".dkr.ecr." + region + ".amazonaws.com"
	audience   = "sts.amazonaws.com"
	roleKey    = "eks.amazonaws.com/role-arn"
	accountKey = "iam.gke.io/gcp-service-account"
	// optedIn is the label that an admin of these tests puts on namespaces.
	optedIn = "runner-identity.dev/default"

	soon, often = 30 * time.Second, 50 * time.Millisecond
	// collected is how long Kubernetes' garbage collector, which looks for new kinds every half minute, may take.
	collected = 2 * time.Minute
)

type ctx = context.Context

// A world is two namespaces of a real API server, a simulated AWS that trusts its tokens, and both controllers with their caches
// and watches, as the program runs them.
type world struct {
	client.WithWatch
	cluster *cluster.Cluster
	cloud   *simaws.Server
	url     string
	events  *recorder
	numbers *prometheus.Registry
	// a and b are the namespaces. Their names are the tests' own, so a mapping that selects by one selects nothing else.
	a, b string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := cluster.Shared(t)
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	k, err := client.NewWithWatch(c.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	w := &world{WithWatch: k, cluster: c, events: &recorder{}, numbers: prometheus.NewRegistry(), a: c.Namespace(t), b: c.Namespace(t)}
	issuer, err := simaws.ClusterIssuer(t.Context(), c.Config, c.Issuer, audience)
	require.NoError(t, err)
	roles := map[string]simaws.Role{}
	for _, ns := range []string{w.a, w.b} {
		for _, name := range []string{"ci-", "deploy-"} {
			roles[role(name+ns)] = simaws.Role{TrustPolicy: w.trust(ns), Permissions: []string{"ecr:*"}}
		}
	}
	w.cloud, err = simaws.New(simaws.Config{Issuers: []simaws.Issuer{issuer}, Roles: roles})
	require.NoError(t, err)
	w.url = w.cloud.Start()
	t.Cleanup(w.cloud.Close)
	return w
}

func role(name string) string { return "arn:aws:iam::" + accountID + ":role/" + name }

// trust lets in the accounts of one namespace: a role of another's would be refused.
func (w *world) trust(namespace string) json.RawMessage {
	issuer := strings.TrimPrefix(w.cluster.Issuer, "https://")
	return json.RawMessage(fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
		"Principal":{"Federated":"arn:aws:iam::%s:oidc-provider/%s"},"Action":"sts:AssumeRoleWithWebIdentity",
		"Condition":{"StringLike":{"%s:sub":"system:serviceaccount:%s:*"}}}]}`, accountID, issuer, issuer, namespace))
}

// controller is one life of the program under test, on its own.
func (w *world) controller(t *testing.T, k client.Client) *namespacedefaults.Controller {
	t.Helper()
	return &namespacedefaults.Controller{
		Client: k, Reader: k, Providers: providers(t), Recorder: w.events, Issuer: w.cluster.Issuer, Namespace: "runner-identity-system",
	}
}

func providers(t *testing.T) identity.Set {
	t.Helper()
	set, err := identity.NewSet(aws.New(aws.WithHTTPClient(loopbackOnly())), gcp.New(gcp.WithHTTPClient(loopbackOnly())))
	require.NoError(t, err)
	return set
}

// identities is the controller that does the rest.
func (w *world) identities(t *testing.T, mgr ctrl.Manager) *runneridentity.Controller {
	t.Helper()
	return &runneridentity.Controller{
		Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), Tokens: runneridentity.APITokens{Client: mgr.GetClient()},
		Providers: providers(t), Clock: clock.RealClock{}, Recorder: &recorder{}, Issuer: w.cluster.Issuer,
	}
}

// start runs both controllers until the test ends.
func (w *world) start(t *testing.T) {
	t.Helper()
	mgr, err := ctrl.NewManager(w.cluster.Config, ctrl.Options{
		Scheme: w.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Cache: cache.Options{ByObject: runneridentity.CacheOptions()},
	})
	require.NoError(t, err)
	c := w.controller(t, mgr.GetClient())
	c.Reader = mgr.GetAPIReader()
	require.NoError(t, w.identities(t, mgr).SetupWithManager(t.Context(), mgr,
		runneridentity.Options{Workers: 4, Metrics: prometheus.NewRegistry(), SkipNameValidation: true}))
	require.NoError(t, c.SetupWithManager(mgr, namespacedefaults.Options{Metrics: w.numbers, SkipNameValidation: true}))
	run, stop := context.WithCancel(cleanup(t))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(run) }()
	t.Cleanup(func() {
		w.empty(t)
		stop()
		assert.NoError(t, <-ended)
	})
}

// empty waits until nothing of the test's is left that waits for a controller.
func (w *world) empty(t *testing.T) {
	t.Helper()
	for _, ns := range []string{w.a, w.b} {
		assert.NoError(t, w.DeleteAllOf(cleanup(t), &v1alpha1.RunnerIdentity{}, client.InNamespace(ns)))
		assert.Eventually(t, func() bool {
			var left v1alpha1.RunnerIdentityList
			err := w.List(cleanup(t), &left, client.InNamespace(ns))
			return err == nil && len(left.Items) == 0
		}, soon, often)
	}
}

// cleanup is a context for after the test, whose own is done by then.
func cleanup(t *testing.T) ctx { return context.WithoutCancel(t.Context()) }

// loopbackOnly reaches the simulator, and fails at once for the issuer, whose host does not exist.
func loopbackOnly() *http.Client {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx ctx, network, address string) (net.Conn, error) {
		if !strings.HasPrefix(address, "127.0.0.1:") {
			return nil, fmt.Errorf("dial %s: not in this test's world", address)
		}
		return dialer.DialContext(ctx, network, address)
	}}}
}

// label puts a label on a namespace, or takes it off if value is empty.
func (w *world) label(t *testing.T, namespace, key, value string) {
	t.Helper()
	ns := &corev1.Namespace{}
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: namespace}, ns))
	patch := client.MergeFrom(ns.DeepCopy())
	ns.Labels[key] = value
	if value == "" {
		delete(ns.Labels, key)
	}
	require.NoError(t, w.Patch(t.Context(), ns, patch))
}
