// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runneridentity"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

const (
	account  = "111122223333"
	role     = "arn:aws:iam::" + account + ":role/ci"
	lost     = "arn:aws:iam::" + account + ":role/lost"
	region   = "eu-west-1"
	host     = account + ".dkr.ecr." + region + ".amazonaws.com"
	audience = "sts.amazonaws.com"
	roleKey  = "eks.amazonaws.com/role-arn"
)

// A world is a namespace of a real API server, a simulated AWS that trusts its tokens, and a clock that only tests move.
type world struct {
	client.WithWatch
	cluster   *cluster.Cluster
	cloud     *simaws.Server
	url       string
	clock     *clocktesting.FakeClock
	tokens    *tokens
	events    *recorder
	namespace string
	// provider is the name of the IdentityProvider, the test's own.
	provider string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := cluster.Shared(t)
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	k, err := client.NewWithWatch(c.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	w := &world{
		WithWatch: k, cluster: c, namespace: c.Namespace(t), events: &recorder{}, tokens: &tokens{next: runneridentity.APITokens{Client: k}},
		// A little ahead: a token must not come from the future of whoever reads it.
		clock: clocktesting.NewFakeClock(time.Now().Add(5 * time.Minute)),
	}
	w.cloud, w.url = w.newCloud(t)
	w.provider = w.newProvider(t, w.namespace, w.url, nil)
	return w
}

// newCloud simulates an AWS whose role ci lets in every account of the namespace.
func (w *world) newCloud(t *testing.T) (*simaws.Server, string) {
	t.Helper()
	issuer, err := simaws.ClusterIssuer(t.Context(), w.cluster.Config, w.cluster.Issuer, audience)
	require.NoError(t, err)
	cloud, err := simaws.New(simaws.Config{
		Clock: w.clock, Issuers: []simaws.Issuer{issuer},
		Roles: map[string]simaws.Role{role: {TrustPolicy: w.trust(), Permissions: []string{"ecr:*"}}},
	})
	require.NoError(t, err)
	url := cloud.Start()
	t.Cleanup(cloud.Close)
	return cloud, url
}

func (w *world) trust() json.RawMessage {
	issuer := strings.TrimPrefix(w.cluster.Issuer, "https://")
	return json.RawMessage(fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
		"Principal":{"Federated":"arn:aws:iam::%s:oidc-provider/%s"},"Action":"sts:AssumeRoleWithWebIdentity",
		"Condition":{"StringLike":{"%s:sub":"system:serviceaccount:%s:*"}}}]}`, account, issuer, issuer, w.namespace))
}

// newProvider makes an IdentityProvider for a cloud.
func (w *world) newProvider(t *testing.T, name, url string, change func(*v1alpha1.IdentityProviderSpec)) string {
	t.Helper()
	p := &v1alpha1.IdentityProvider{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.IdentityProviderSpec{Plugin: "aws", AWS: &v1alpha1.AWSDefaults{
			AWSIdentity: v1alpha1.AWSIdentity{Region: region},
			Endpoints:   v1alpha1.AWSEndpoints{STS: url, ECR: url, ECRPublic: url},
		}},
	}
	if change != nil {
		change(&p.Spec)
	}
	require.NoError(t, w.Create(t.Context(), p))
	t.Cleanup(func() { _ = w.Delete(cleanup(t), p) })
	return name
}

// controller is one life of the program: what it remembers is gone with the next.
func (w *world) controller(t *testing.T) *runneridentity.Controller {
	t.Helper()
	providers, err := identity.NewSet(aws.New(aws.WithClock(w.clock), aws.WithHTTPClient(loopbackOnly())))
	require.NoError(t, err)
	return &runneridentity.Controller{
		Client: w.WithWatch, Reader: w.WithWatch, Tokens: w.tokens, Providers: providers, Clock: w.clock, Recorder: w.events,
		Issuer: w.cluster.Issuer, CallWait: time.Minute,
	}
}

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
