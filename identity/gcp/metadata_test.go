// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2/google"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

// gkePod is a container of the job on a simulated node of GKE. Its ServiceAccount carries what the plan says, and nothing else.
func gkePod(t testing.TB, c *cloud, changes ...set) (container, identity.Request) {
	t.Helper()
	bare := gke(t, c, changes...)
	plan, err := gcp.New().Plan(bare)
	require.NoError(t, err)
	annotations := map[string]string{}
	for _, a := range plan.Accounts {
		annotations = a.Annotations
	}
	at, err := c.server.StartMetadata(gcpsim.Pod{
		Namespace: "ci", Account: "build-job", Provider: testCluster, ProjectID: "acme-ci",
		Annotations: func(context.Context) (map[string]string, error) { return annotations, nil },
		Token: func(_ context.Context, audience string) (string, error) {
			return c.issuer.Token(sim.Subject{Namespace: "ci", Account: "build-job", Audience: audience, Issued: time.Now(), Lifetime: time.Hour})
		},
	})
	require.NoError(t, err)
	r := gke(t, c, append(changes, set{"endpoints": set{"sts": c.url, "iamCredentials": c.url, "artifactRegistry": c.url, "metadata": at}})...)
	return start(t, r, identity.Secret{}), r
}

func gkeModes() map[string]set {
	return map[string]set{"with a service account": {}, "direct": {"serviceAccount": nil}}
}

// kubeflow #4607, kfctl #48: gcloud on GKE.
func TestGcloudFindsTheMetadataServer(t *testing.T) {
	c := newCloud(t)
	for name, change := range gkeModes() {
		t.Run(name, func(t *testing.T) {
			pod, r := gkePod(t, c, change)
			token, err := pod.run("", "gcloud", "auth", "print-access-token")
			require.NoError(t, err)
			c.pulls(t, r, "oauth2accesstoken", token)
			project, err := pod.run("", "gcloud", "config", "get", "project")
			require.NoError(t, err)
			assert.Equal(t, "acme-ci", project)
		})
	}
}

func TestGooglesGoLibraryFindsTheMetadataServer(t *testing.T) {
	c := newCloud(t)
	for name, change := range gkeModes() {
		t.Run(name, func(t *testing.T) {
			pod, r := gkePod(t, c, change)
			pod.inside(t)
			found, err := google.FindDefaultCredentials(t.Context(), "https://www.googleapis.com/auth/cloud-platform")
			require.NoError(t, err)
			token, err := found.TokenSource.Token()
			require.NoError(t, err)
			assert.Equal(t, "acme-ci", found.ProjectID)
			c.pulls(t, r, "oauth2accesstoken", token.AccessToken)
		})
	}
}

// google-cloud-go #14349: 132 of 485 pods took a metadata server that was not up yet for none. A client that is told where the
// server is does not probe, and asks again.
func TestAMetadataServerThatStartsLateIsNotTakenForNone(t *testing.T) {
	c := newCloud(t)
	pod, r := gkePod(t, c)
	pod.inside(t)
	require.NoError(t, c.server.Inject(sim.Fault{Service: gcpsim.Metadata, Kind: sim.Answer, Status: 503, Body: "starting", Count: 2}))
	found, err := google.FindDefaultCredentials(t.Context(), "https://www.googleapis.com/auth/cloud-platform")
	require.NoError(t, err)
	token, err := found.TokenSource.Token()
	require.NoError(t, err)
	c.pulls(t, r, "oauth2accesstoken", token.AccessToken)
	assert.Zero(t, c.server.Calls(gcpsim.Metadata, "Root"), "nothing was probed")
}

// cloudnative-pg #5370: annotated, and the binding is wrong. What the pod sees and what the probe says have to be the same fault.
func TestAWrongBindingIsFoundByTheProbeBeforeAPodSeesIt(t *testing.T) {
	c := newCloud(t, func(c *gcpsim.Config) { c.ServiceAccounts[testAccount] = gcpsim.ServiceAccount{} })
	pod, r := gkePod(t, c, set{"projectNumber": nil})
	pod.inside(t)
	found, err := google.FindDefaultCredentials(t.Context(), "https://www.googleapis.com/auth/cloud-platform")
	require.NoError(t, err)
	_, err = found.TokenSource.Token()
	require.ErrorContains(t, err, "Unable to generate access token; IAM returned 403 Forbidden")
	require.ErrorContains(t, err, "could be caused by a missing IAM policy binding on the target IAM service account")

	links, err := gcp.New().Probe(t.Context(), c.token(r), r)
	assert.Equal(t, []string{"token", "sts", "impersonation!"}, names(links))
	assert.ErrorContains(t, err, "--member '"+gkeMember+"'")
}

// accelerated-platforms #465: Autopilot refuses pods with this selector, so it is there only if it is asked for.
func TestTheNodeSelectorIsThereOnlyIfItIsAskedFor(t *testing.T) {
	plan, err := gcp.New().Plan(onGKE(t))
	require.NoError(t, err)
	assert.Empty(t, plan.Pods)
	plan, err = gcp.New().Plan(onGKE(t, set{"nodeSelector": "Always"}))
	require.NoError(t, err)
	require.Len(t, plan.Pods, 1)
	assert.Equal(t, map[string]string{"iam.gke.io/gke-metadata-server-enabled": "true"}, plan.Pods[0].NodeSelector)
}

// cloud-api-adaptor #3077: pods on the host's network pass the metadata server by and are the node. With mode Federation and the
// cluster's own name they need no metadata server.
func TestAPodOnTheHostsNetworkNeedsNoMetadataServer(t *testing.T) {
	c := newCloud(t)
	r := gke(t, c, set{"mode": "Federation"})
	pod := start(t, r, c.token(r))
	for name := range pod.env {
		assert.NotContains(t, name, "METADATA")
	}
	pod.inside(t)
	found, err := google.FindDefaultCredentials(t.Context(), "https://www.googleapis.com/auth/cloud-platform")
	require.NoError(t, err)
	token, err := found.TokenSource.Token()
	require.NoError(t, err)
	c.pulls(t, r, "oauth2accesstoken", token.AccessToken)
}

func TestGooglesPythonLibraryFindsTheMetadataServer(t *testing.T) {
	const library = "/usr/lib/google-cloud-sdk/lib/third_party"
	if _, err := os.Stat(filepath.Join(library, "google", "auth")); err != nil {
		t.Skip("google-auth is not on this machine")
	}
	c := newCloud(t)
	pod, r := gkePod(t, c)
	out, err := pod.run("", "python3", "-c", pythonADC, library)
	require.NoError(t, err)
	project, token, _ := strings.Cut(out, " ")
	assert.Equal(t, "acme-ci", project)
	c.pulls(t, r, "oauth2accesstoken", token)
}
