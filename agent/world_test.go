// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/agent"
	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/podspec"
	"github.com/runner-identity/runner-identity/resolve"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

const (
	issuerURL = "https://oidc.acme.example/cluster"
	account   = "111122223333"
	role      = "arn:aws:iam::" + account + ":role/ci"
	region    = "eu-west-1"
	host      = account + ".dkr.ecr." + region + ".amazonaws.com"
	elsewhere = "ghcr.io"
	eventual  = 20 * time.Second
	often     = 5 * time.Millisecond
)

// A world is one runner pod's disk, a cloud, and a clock that only tests move.
type world struct {
	t     *testing.T
	clock *clocktesting.FakeClock
	log   *lockedBuffer
	cloud *simaws.Server
	url   string
	// sign makes a token of the pod's account.
	sign func(audience string, at time.Time) string
	// dir, job and work are the volumes; home is the home directory of the job's containers; tokens is what the agent alone has.
	dir, job, work, home, tokens string
	provider                     identity.Provider
	plan                         *v1alpha1.AgentPlan
	namespace                    string
}

// newWorld is a pod on AWS.
func newWorld(t *testing.T) *world {
	t.Helper()
	// A little ahead: a token must not come from the future of whoever reads it.
	w := bareWorld(t, clocktesting.NewFakeClock(time.Now().Add(5*time.Minute)))
	issuer, keys := newIssuer(t)
	w.sign = func(audience string, at time.Time) string { return signed(t, issuer, audience, at) }
	w.onAWS(simaws.Issuer{URL: issuerURL, JWKS: keys, ClientIDs: []string{"sts.amazonaws.com"}}, "ci")
	w.provider = aws.New(aws.WithClock(w.clock))
	w.resolve(w.awsIdentity())
	return w
}

// newIssuer is a cluster that signs tokens, and where its keys are.
func newIssuer(t *testing.T) (issuer *sim.Issuer, keys string) {
	t.Helper()
	issuer, err := sim.NewIssuer(issuerURL)
	require.NoError(t, err)
	server := httptest.NewServer(issuer)
	t.Cleanup(server.Close)
	return issuer, server.URL
}

// signed is a token of the pod's account.
func signed(t *testing.T, issuer *sim.Issuer, audience string, at time.Time) string {
	t.Helper()
	token, err := issuer.Token(sim.Subject{Namespace: "ci", Account: "website-runner", Audience: audience, Issued: at, Lifetime: time.Hour})
	require.NoError(t, err)
	return token
}

func bareWorld(t *testing.T, clock *clocktesting.FakeClock) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{
		t: t, clock: clock, log: &lockedBuffer{}, namespace: "ci",
		dir: filepath.Join(root, "shared"), job: filepath.Join(root, "mount", filepath.Base(podspec.JobDir)),
		work: filepath.Join(root, "work"), tokens: filepath.Join(root, "tokens"),
	}
	w.home = filepath.Join(w.work, "_temp", "_github_home")
	for _, dir := range []string{w.dir, w.job, filepath.Join(w.work, "_temp"), w.tokens} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	return w
}

// onAWS is an AWS whose role ci lets in the accounts of a namespace.
func (w *world) onAWS(issuer simaws.Issuer, namespace string) {
	w.t.Helper()
	at := strings.TrimPrefix(issuer.URL, "https://")
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
		"Principal":{"Federated":"arn:aws:iam::%s:oidc-provider/%s"},"Action":"sts:AssumeRoleWithWebIdentity",
		"Condition":{"StringLike":{"%s:sub":"system:serviceaccount:%s:*"}}}]}`, account, at, at, namespace)
	var err error
	w.cloud, err = simaws.New(simaws.Config{
		Clock: w.clock, Issuers: []simaws.Issuer{issuer},
		Roles: map[string]simaws.Role{role: {TrustPolicy: json.RawMessage(trust), Permissions: []string{"ecr:*"}}},
	})
	require.NoError(w.t, err)
	w.url = w.cloud.Start()
	w.t.Cleanup(w.cloud.Close)
}

func (w *world) awsIdentity() (v1alpha1.Identity, v1alpha1.IdentityProviderSpec) {
	return v1alpha1.Identity{AWS: &v1alpha1.AWSIdentity{RoleARN: role}}, v1alpha1.IdentityProviderSpec{Plugin: "aws", AWS: &v1alpha1.AWSDefaults{
		AWSIdentity: v1alpha1.AWSIdentity{Region: region},
		Endpoints:   v1alpha1.AWSEndpoints{STS: w.url, ECR: w.url, ECRPublic: w.url},
	}}
}

// resolve is what the controller does: the agent's part of a RunnerDeployment's plan. The kubelet then makes the tokens.
func (w *world) resolve(asked v1alpha1.Identity, defaults v1alpha1.IdentityProviderSpec) {
	w.t.Helper()
	providers, err := identity.NewSet(w.provider)
	require.NoError(w.t, err)
	asked.Targets, asked.Delivery = []v1alpha1.IdentityTarget{v1alpha1.TargetRunner}, v1alpha1.DeliveryWorkVolume
	r, err := resolve.Identity(resolve.Input{
		Providers: providers, Image: "runner-identity:1", Issuer: issuerURL,
		Identity: &v1alpha1.RunnerIdentity{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "website"},
			Spec:       v1alpha1.RunnerIdentitySpec{IdentityProvider: w.provider.Name(), Identity: asked},
		},
		Provider: &v1alpha1.IdentityProvider{ObjectMeta: metav1.ObjectMeta{Name: w.provider.Name()}, Spec: defaults},
	})
	require.NoError(w.t, err)
	require.NotNil(w.t, r.Runner.Agent)
	w.plan = r.Runner.Agent
	w.rotate()
}

// rotate writes new tokens.
func (w *world) rotate() { w.signedAt(w.clock.Now()) }

// signedAt writes tokens of a time.
func (w *world) signedAt(at time.Time) {
	w.t.Helper()
	for _, token := range w.plan.Tokens {
		file := filepath.Join(w.tokens, token.Path)
		require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(w.t, os.WriteFile(file, []byte(w.sign(token.Audience, at)), 0o644))
	}
}

// config is the plan's, with the paths that a pod has moved to where this test has them: a container sees w.home as /github/home.
func (w *world) config() agent.Config {
	w.t.Helper()
	here := strings.NewReplacer(podspec.IdentityDir, w.tokens, podspec.JobDir, filepath.Join(w.home, filepath.Base(podspec.JobDir)))
	c, err := agent.Parse(here.Replace(w.plan.Config))
	require.NoError(w.t, err)
	return c
}

func (w *world) agent() *agent.Agent {
	w.t.Helper()
	providers, err := identity.NewSet(w.provider)
	require.NoError(w.t, err)
	return &agent.Agent{
		Config: w.config(), Providers: providers, Dir: w.dir, JobDir: w.job, WorkDir: w.work, Clock: w.clock,
		Log: slog.New(slog.NewJSONHandler(w.log, nil)),
	}
}

// start runs an agent, and returns how it is stopped, as SIGTERM would.
func (w *world) start(a *agent.Agent) (stop func() error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	w.t.Cleanup(func() { _ = stop() })
	return stop
}

// startReady runs an agent until it is ready and waits for nothing but the clock.
func (w *world) startReady(a *agent.Agent) (stop func() error) {
	w.t.Helper()
	stop = w.start(a)
	w.until(func() bool { return agent.Ready(w.dir) == nil }, "the agent is not ready")
	w.idle(a)
	return stop
}

// idle waits until every login and the look at files wait for the clock.
func (w *world) idle(a *agent.Agent) {
	w.t.Helper()
	w.until(func() bool { return w.clock.Waiters() == len(a.Config.Hosts)+1 }, "something is still going on")
}

func (w *world) until(ok func() bool, otherwise string) {
	w.t.Helper()
	require.Eventually(w.t, ok, eventual, often, "%s; log:\n%s", otherwise, w.log)
}

func (w *world) dockerConfig() string { return filepath.Join(w.dir, "docker") }

func (w *world) configFile() string { return filepath.Join(w.dockerConfig(), "config.json") }

// client is what the docker client would send to a registry.
func (w *world) client(registry string) authn.AuthConfig {
	w.t.Helper()
	w.t.Setenv("DOCKER_CONFIG", w.dockerConfig())
	at, err := name.NewRegistry(registry)
	require.NoError(w.t, err)
	found, err := authn.DefaultKeychain.Resolve(at)
	require.NoError(w.t, err)
	sent, err := found.Authorization()
	require.NoError(w.t, err)
	return *sent
}

// taken reports whether ECR takes what the docker client would send now.
func (w *world) taken() error {
	w.t.Helper()
	sent := w.client(host)
	_, _, err := w.cloud.Verify(sent.Username, sent.Password, host)
	return err
}

// write is a client of the job that writes the whole config.
func (w *world) write(config string) {
	w.t.Helper()
	require.NoError(w.t, os.WriteFile(w.configFile(), []byte(config), 0o600))
}

func (w *world) read() map[string]any {
	w.t.Helper()
	b, err := os.ReadFile(w.configFile())
	require.NoError(w.t, err)
	var c map[string]any
	require.NoError(w.t, json.Unmarshal(b, &c), "%s", b)
	return c
}

// edit is a client of the job that reads the config and writes it anew.
func (w *world) edit(change func(config, auths map[string]any)) {
	w.t.Helper()
	c := w.read()
	auths, _ := c["auths"].(map[string]any)
	change(c, auths)
	b, err := json.Marshal(c)
	require.NoError(w.t, err)
	w.write(string(b))
}

// A lockedBuffer is a log that a test reads while the agent writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
