// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2/google"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity/gcp"
	simgcp "github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

const (
	googleProvider = "projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster"
	googleAccount  = "ci@acme-ci.iam.gserviceaccount.com"
	googleHost     = "europe-west1-docker.pkg.dev"
	session        = "arn:aws:sts::" + account + ":assumed-role/ci/ci-website"
	scope          = "https://www.googleapis.com/auth/cloud-platform"
)

// findings are the two ways by which a container of the job finds its identity: the variables of $GITHUB_ENV, and, without any of
// them, the home directory.
func (w *world) findings() map[string]map[string]string {
	w.t.Helper()
	env, said, err := w.jobStarted()
	require.NoError(w.t, err, said)
	always := map[string]string{"HOME": w.home, "PATH": os.Getenv("PATH"), "AWS_ENDPOINT_URL_STS": w.url}
	withEnv := maps.Clone(always)
	maps.Copy(withEnv, env)
	return map[string]map[string]string{"by the variables": withEnv, "by the home directory alone": always}
}

// inside makes this process's environment a container's.
func inside(t *testing.T, env map[string]string) {
	t.Helper()
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		for _, prefix := range []string{"AWS_", "GOOGLE_", "CLOUDSDK_", "GCE_"} {
			if strings.HasPrefix(name, prefix) {
				t.Setenv(name, "")
				require.NoError(t, os.Unsetenv(name))
			}
		}
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// run runs a program that the machine has in a container's environment, or skips the test.
func run(t *testing.T, env map[string]string, program string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not on this machine", program)
	}
	command := exec.CommandContext(t.Context(), path, args...)
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, "%s %s: %s", program, args, &stderr)
	return strings.TrimSpace(string(out))
}

// ARC #246 and #433: the role of the runner is not that of containers that docker runs.
func TestAmazonsGoSDKInAContainerOfTheJobIsTheRole(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	for name, env := range w.findings() {
		t.Run(name, func(t *testing.T) {
			inside(t, env)
			// The SDK has looked for the home directory when this process began.
			c, err := config.LoadDefaultConfig(t.Context(), config.WithSharedConfigFiles([]string{filepath.Join(env["HOME"], ".aws", "config")}))
			require.NoError(t, err)
			assert.Equal(t, region, c.Region)
			who, err := sts.NewFromConfig(c).GetCallerIdentity(t.Context(), nil)
			require.NoError(t, err)
			assert.Equal(t, session, *who.Arn)
		})
	}
}

func TestAmazonsCommandLineInAContainerOfTheJobIsTheRole(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	for name, env := range w.findings() {
		t.Run(name, func(t *testing.T) {
			if env["AWS_REGION"] == "" {
				env["AWS_EC2_METADATA_DISABLED"] = "true" // it would look for the node's role, for minutes, if it found no other
			}
			assert.Equal(t, session, run(t, env, "aws", "sts", "get-caller-identity", "--query", "Arn", "--output", "text", "--endpoint-url", w.url))
		})
	}
}

// aws.md 7.1: with variables and a config that disagree, each SDK is another role; so a chain is in the config alone.
func TestAChainOfRolesReachesTheJobInAConfigFile(t *testing.T) {
	w := newWorld(t)
	asked, defaults := w.awsIdentity()
	asked.AWS.Chain = []string{"arn:aws:iam::444455556666:role/deploy"}
	w.resolve(asked, defaults)
	w.start(w.agent())
	w.until(func() bool { _, err := os.Stat(filepath.Join(w.job, "job-started.sh")); return err == nil }, "there is no hook")
	env, said, err := w.jobStarted()
	require.NoError(t, err, said)
	assert.NotContains(t, env, "AWS_ROLE_ARN")
	for _, file := range []string{env["AWS_CONFIG_FILE"], filepath.Join(w.home, ".aws", "config")} {
		inside(t, map[string]string{"HOME": w.home, "AWS_CONFIG_FILE": file})
		c, err := config.LoadSharedConfigProfile(t.Context(), "default", func(o *config.LoadSharedConfigOptions) { o.ConfigFiles = []string{file} })
		require.NoError(t, err)
		assert.Equal(t, "arn:aws:iam::444455556666:role/deploy", c.RoleARN)
		assert.Equal(t, w.token(), c.Source.WebIdentityTokenFile)
	}
}

// onGoogle is a pod that Google takes for the service account ci.
func onGoogle(t *testing.T, issuer sim.Cluster, namespace string, sign func(audience string, at time.Time) string) (*world, *simgcp.Server) {
	t.Helper()
	w := bareWorld(t, clocktesting.NewFakeClock(time.Now()))
	w.sign = sign
	server, err := simgcp.New(simgcp.Config{
		Providers: []simgcp.Provider{{Name: googleProvider, Issuer: issuer.Issuer, JWKS: issuer.JWKS, Client: issuer.Client}},
		ServiceAccounts: map[string]simgcp.ServiceAccount{googleAccount: {WorkloadIdentityUsers: []string{
			"principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/system:serviceaccount:" + namespace + ":website-runner",
		}}},
		Repositories: map[string]simgcp.Repository{"projects/acme-ci/locations/europe-west1/repositories/images": {
			Bindings: map[string][]string{"roles/artifactregistry.reader": {"serviceAccount:" + googleAccount}},
		}},
	})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	w.url = server.Start()
	w.provider = gcp.New(gcp.WithClock(w.clock))
	w.namespace = namespace
	w.resolve(v1alpha1.Identity{Registries: []string{googleHost}, GCP: &v1alpha1.GCPIdentity{ServiceAccount: googleAccount}}, v1alpha1.IdentityProviderSpec{
		Plugin: "gcp", GCP: &v1alpha1.GCPDefaults{
			GCPIdentity: v1alpha1.GCPIdentity{WorkloadIdentityProvider: googleProvider},
			Endpoints:   v1alpha1.GCPEndpoints{STS: w.url, IAMCredentials: w.url, ArtifactRegistry: w.url},
		},
	})
	return w, server
}

func newGoogle(t *testing.T) (*world, *simgcp.Server) {
	t.Helper()
	issuer, at := newIssuer(t)
	return onGoogle(t, sim.Cluster{Issuer: issuerURL, JWKS: at}, "ci", func(audience string, at time.Time) string {
		return signed(t, issuer, audience, at)
	})
}

// pulls checks that Artifact Registry lets a login pull, as the service account.
func pulls(t *testing.T, server *simgcp.Server, user, password string) {
	t.Helper()
	who, err := server.Verify(user, password, simgcp.Scope{Host: googleHost, Path: "acme-ci/images/app"})
	require.NoError(t, err)
	assert.Equal(t, googleAccount, who)
}

func TestTheDockerClientIsLoggedInToArtifactRegistry(t *testing.T) {
	w, server := newGoogle(t)
	w.startReady(w.agent())
	sent := w.client(googleHost)
	pulls(t, server, sent.Username, sent.Password)
}

func TestGooglesGoLibraryInAContainerOfTheJobIsTheServiceAccount(t *testing.T) {
	w, server := newGoogle(t)
	w.startReady(w.agent())
	for name, env := range w.findings() {
		t.Run(name, func(t *testing.T) {
			inside(t, env)
			found, err := google.FindDefaultCredentials(t.Context(), scope)
			require.NoError(t, err)
			token, err := found.TokenSource.Token()
			require.NoError(t, err)
			pulls(t, server, "oauth2accesstoken", token.AccessToken)
		})
	}
}

// gcp.md 4: gcloud does not read Application Default Credentials, and empties a configuration that is not the active one.
func TestGcloudInAContainerOfTheJobIsTheServiceAccount(t *testing.T) {
	w, server := newGoogle(t)
	w.startReady(w.agent())
	for name, env := range w.findings() {
		t.Run(name, func(t *testing.T) {
			pulls(t, server, "oauth2accesstoken", run(t, env, "gcloud", "auth", "print-access-token"))
			assert.Equal(t, "acme-ci", run(t, env, "gcloud", "config", "get", "project"))
		})
	}
}
