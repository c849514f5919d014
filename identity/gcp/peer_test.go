// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/auth/credentials"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2/google"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
)

// peerTimeout bounds one run of a client: gcloud takes seconds to start.
const peerTimeout = 2 * time.Minute

// A container is what a plan makes of one: a directory for the files, and the variables. Nothing else is in it.
type container struct {
	t   testing.TB
	dir string
	env map[string]string
}

// start makes a container of a plan, as the kubelet would: the files below a directory that nobody writes to, an empty home.
func start(t testing.TB, r identity.Request, token identity.Secret) container {
	t.Helper()
	plan, err := gcp.New().Plan(r)
	require.NoError(t, err)
	c := container{t: t, dir: t.TempDir(), env: map[string]string{"HOME": t.TempDir(), "PATH": os.Getenv("PATH")}}
	plan = plan.At(filepath.Join(c.dir, "identity"))
	for _, f := range plan.Files {
		c.write(f.Path, f.Content)
	}
	for _, p := range plan.Tokens {
		c.write(p.Path, token.Reveal())
	}
	here := strings.NewReplacer()
	for _, d := range plan.Dirs {
		here = strings.NewReplacer(d.Path, c.empty(d.Volume))
	}
	for _, e := range plan.Env {
		c.env[e.Name] = here.Replace(e.Value)
	}
	return c
}

// empty is an empty directory as the kubelet makes it: everybody may write to it.
func (c container) empty(volume string) string {
	c.t.Helper()
	dir := filepath.Join(c.dir, "empty", volume)
	require.NoError(c.t, os.MkdirAll(dir, 0o755))
	require.NoError(c.t, os.Chmod(dir, 0o777))
	return dir
}

func (c container) write(path, content string) {
	c.t.Helper()
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(c.t, os.WriteFile(path, []byte(content), 0o444))
}

// run runs a program that the machine has, or skips the test.
func (c container) run(stdin, program string, args ...string) (string, error) {
	c.t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		c.t.Skipf("%s is not on this machine", program)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), peerTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, path, args...)
	command.Env = c.list()
	command.Stdin = strings.NewReader(stdin)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", program, args, err, stderr.String())
	}
	return strings.TrimSpace(string(out)), err
}

func (c container) list() []string {
	var list []string
	for name, value := range c.env {
		list = append(list, name+"="+value)
	}
	return list
}

// inside makes this process's environment the container's.
func (c container) inside(t *testing.T) {
	t.Helper()
	for _, name := range []string{"GOOGLE_APPLICATION_CREDENTIALS", "GCE_METADATA_HOST", "GOOGLE_CLOUD_PROJECT"} {
		t.Setenv(name, "")
	}
	for name, value := range c.env {
		t.Setenv(name, value)
	}
}

// modes are the two ways of federation.
func modes(t testing.TB, c *cloud) map[string]identity.Request {
	return map[string]identity.Request{
		"with a service account": federation(t, c.here(), set{"accessTokenLifetime": "30m"}),
		"direct":                 federation(t, c.here(), set{"serviceAccount": nil, "projectID": "acme-ci"}),
	}
}

// pulls checks that a token may pull, as the principal that the plan names.
func (c *cloud) pulls(t testing.TB, r identity.Request, user, token string) {
	t.Helper()
	plan, err := gcp.New().Plan(r)
	require.NoError(t, err)
	who, err := c.server.Verify(user, token, gcpsim.Scope{Host: host, Path: "acme-ci/images/app"})
	require.NoError(t, err)
	assert.Equal(t, plan.Principal, who)
}

// pfnet webhook #44: gcloud does not read GOOGLE_APPLICATION_CREDENTIALS.
func TestGcloudGetsATokenFromExactlyWhatIsPlanned(t *testing.T) {
	c := newCloud(t)
	for name, r := range modes(t, c) {
		t.Run(name, func(t *testing.T) {
			pod := start(t, r, c.token(r))
			token, err := pod.run("", "gcloud", "auth", "print-access-token")
			require.NoError(t, err)
			c.pulls(t, r, "oauth2accesstoken", token)
		})
	}
}

// pfnet webhook #12: the credential file does not tell the project.
func TestGcloudKnowsTheProject(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here(), set{"region": "europe-west1"})
	pod := start(t, r, c.token(r))
	project, err := pod.run("", "gcloud", "config", "get", "project")
	require.NoError(t, err)
	assert.Equal(t, "acme-ci", project)
	region, err := pod.run("", "gcloud", "config", "get", "compute/region")
	require.NoError(t, err)
	assert.Equal(t, "europe-west1", region)
}

// gcloud ends with "unable to open database file" where it cannot write its own directory.
func TestGcloudWorksWithAHomeThatCannotBeWritten(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become somebody who cannot write")
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("setpriv is not on this machine")
	}
	c := newCloud(t)
	r := federation(t, c.here())
	pod := start(t, r, c.token(r))
	require.NoError(t, os.Chmod(pod.env["HOME"], 0o555))
	// The way to the pod's directories is open, as it is in a container.
	require.NoError(t, os.Chmod(pod.dir, 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(pod.dir), 0o755))
	token, err := pod.run("", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "gcloud", "auth", "print-access-token")
	require.NoError(t, err)
	c.pulls(t, r, "oauth2accesstoken", token)
}

// docker-credential-gcr #119, buildkit #5852: a helper gives a token that is good when it is asked.
func TestDockersHelperOfGcloudGivesALoginThatPulls(t *testing.T) {
	c := newCloud(t)
	for name, r := range modes(t, c) {
		t.Run(name, func(t *testing.T) {
			pod := start(t, r, c.token(r))
			out, err := pod.run("https://"+host, "docker-credential-gcloud", "get")
			require.NoError(t, err)
			var login struct{ Username, Secret string }
			require.NoError(t, json.Unmarshal([]byte(out), &login))
			c.pulls(t, r, login.Username, login.Secret)
		})
	}
}

// Terraform's Google provider, kaniko and docker-credential-gcr find their credentials with one of these two libraries.
func TestGooglesGoLibrariesFindThePlannedCredentials(t *testing.T) {
	c := newCloud(t)
	for name, r := range modes(t, c) {
		t.Run("x/oauth2 "+name, func(t *testing.T) {
			start(t, r, c.token(r)).inside(t)
			found, err := google.FindDefaultCredentials(t.Context(), "https://www.googleapis.com/auth/cloud-platform")
			require.NoError(t, err)
			token, err := found.TokenSource.Token()
			require.NoError(t, err)
			c.pulls(t, r, "oauth2accesstoken", token.AccessToken)
		})
		t.Run("cloud.google.com/go/auth "+name, func(t *testing.T) {
			start(t, r, c.token(r)).inside(t)
			found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{"https://www.googleapis.com/auth/devstorage.read_write"}})
			require.NoError(t, err)
			token, err := found.Token(t.Context())
			require.NoError(t, err)
			c.pulls(t, r, "oauth2accesstoken", token.Value)
		})
	}
}

// pythonADC is a Python program that finds its credentials as the client libraries do; gcloud brings the library.
const pythonADC = `
import sys
sys.path[0:0] = [sys.argv[1]]
import google.auth, google.auth.transport.requests
found, project = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
found.refresh(google.auth.transport.requests.Request())
print(project, found.token)
`

func TestGooglesPythonLibraryFindsThePlannedCredentials(t *testing.T) {
	const library = "/usr/lib/google-cloud-sdk/lib/third_party"
	if _, err := os.Stat(filepath.Join(library, "google", "auth")); err != nil {
		t.Skip("google-auth is not on this machine")
	}
	c := newCloud(t)
	for name, r := range modes(t, c) {
		t.Run(name, func(t *testing.T) {
			pod := start(t, r, c.token(r))
			out, err := pod.run("", "python3", "-c", pythonADC, library)
			require.NoError(t, err)
			project, token, _ := strings.Cut(out, " ")
			assert.Equal(t, "acme-ci", project)
			c.pulls(t, r, "oauth2accesstoken", token)
		})
	}
}
