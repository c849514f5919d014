// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
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

func TestTheDemoProvesTheIdentityOfARunnerPod(t *testing.T) {
	out, temp := inRepository(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	require.NoError(t, run(ctx, "config/samples/aws.yaml", false))

	require.Eventually(t, func() bool { return bytes.Contains([]byte(out.String()), []byte("a stranger")) }, 10*time.Second, 50*time.Millisecond)
	said := out.String()
	for _, want := range []string{
		"serviceaccount/website-runner",
		"AWS_WEB_IDENTITY_TOKEN_FILE",
		"subject system:serviceaccount:ci:website-runner",
		"you are arn:aws:sts::111122223333:assumed-role/ci/ci-website",
		"GET https://111122223333.dkr.ecr.eu-west-1.amazonaws.com/v2/ with that login: HTTP 200",
		"a stranger             the same with the account default: AccessDenied",
		"RegistryLoginReady    True",
	} {
		assert.Contains(t, said, want)
	}
	assert.NotContains(t, said, "eyJhbGciOi", "a token is printed")
	assert.NotContains(t, said, githubToken)
	assert.Empty(t, leftBehind(t, temp))
}

func TestAnInterruptedDemoCleansUp(t *testing.T) {
	out, temp := inRepository(t)
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "config/samples/aws.yaml", true) }()
	require.Eventually(t, func() bool { return bytes.Contains([]byte(out.String()), []byte("building the controller")) }, 10*time.Minute, 50*time.Millisecond)
	interrupt()
	require.Error(t, <-ended)
	assert.Empty(t, leftBehind(t, temp))
}
