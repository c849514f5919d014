// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// output is what the demo prints, while it prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// inRepository runs a test where "make demo" runs, with a temporary directory of its own and the standard output caught.
func inRepository(t *testing.T) (out *output, temp string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane: not with -short")
	}
	t.Chdir("../..")
	temp = t.TempDir()
	t.Setenv("TMPDIR", temp)
	stdout := os.Stdout
	r, w, err := os.Pipe()
	require.NoError(t, err)
	os.Stdout = w
	out = &output{}
	done := make(chan struct{})
	go func() { defer close(done); _, _ = io.Copy(out, r) }()
	t.Cleanup(func() {
		os.Stdout = stdout
		_ = w.Close()
		<-done
		if t.Failed() {
			t.Log(out)
		}
	})
	return out, temp
}

func leftBehind(t *testing.T, temp string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(temp, "runner-identity-*"))
	require.NoError(t, err)
	return left
}

// proofs are what each form of the demo has to say, the last line at the end.
func proofs() map[string][]string {
	const pool = "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/system:serviceaccount:ci:"
	const pull = "GET https://europe-west1-docker.pkg.dev/v2/token?service=europe-west1-docker.pkg.dev&scope=repository:acme-ci/images/runner:pull with that "
	google := []string{
		"GOOGLE_APPLICATION_CREDENTIALS",
		"checked: token, sts, impersonation, repository",
		"europe-west1-docker.pkg.dev: user oauth2accesstoken, password of ",
		"audience https://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster",
		"you are " + pool + "website-runner",
		"you may be ci@acme-ci.iam.gserviceaccount.com until ",
		pull + "login: HTTP 200",
	}
	if _, err := exec.LookPath("gcloud"); err == nil {
		google = append(google, "with the pod's files and variables: acme-ci", "its bearer is ci@acme-ci.iam.gserviceaccount.com", pull+"token: HTTP 200")
	} else {
		google = append(google, "gcloud is not on this machine")
	}
	return map[string][]string{
		"aws": {
			"AWS_WEB_IDENTITY_TOKEN_FILE",
			"subject system:serviceaccount:ci:website-runner",
			"you are arn:aws:sts::111122223333:assumed-role/ci/ci-website",
			"GET https://111122223333.dkr.ecr.eu-west-1.amazonaws.com/v2/ with that login: HTTP 200",
			"a stranger             the same with the account default: AccessDenied",
		},
		"gcp": append(google,
			"a stranger             the same with the account default: STS knows it as "+pool+"default",
			"HTTP 403: Permission 'iam.serviceAccounts.getAccessToken' denied"),
	}
}

func TestTheDemoProvesTheIdentityOfARunnerPod(t *testing.T) {
	want := proofs()
	for _, provider := range providers() {
		t.Run(provider, func(t *testing.T) {
			require.NotEmpty(t, want[provider])
			out, temp := inRepository(t)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			require.NoError(t, run(ctx, provider, "", false))

			last := want[provider][len(want[provider])-1]
			require.Eventually(t, func() bool { return strings.Contains(out.String(), last) }, 10*time.Second, 50*time.Millisecond)
			said := out.String()
			for _, want := range append(want[provider], "serviceaccount/website-runner", "RegistryLoginReady    True") {
				assert.Contains(t, said, want)
			}
			assert.NotContains(t, said, "eyJhbGciOi", "a token of the cluster is printed")
			assert.NotContains(t, said, "ya29.", "a token of Google is printed")
			assert.NotContains(t, said, githubToken)
			assert.Empty(t, leftBehind(t, temp))
		})
	}
}

func TestAnInterruptedDemoCleansUp(t *testing.T) {
	out, temp := inRepository(t)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "aws", "", true) }()
	require.Eventually(t, func() bool { return bytes.Contains([]byte(out.String()), []byte("building the controller")) }, 10*time.Minute, 50*time.Millisecond)
	interrupt()
	require.Error(t, <-ended)
	assert.Empty(t, leftBehind(t, temp))
}
