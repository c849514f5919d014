// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }

func TestAFlagThatIsWrongIsNamed(t *testing.T) {
	for want, args := range map[string][]string{
		"-iam":          {},
		"-metadata-pod": {"-iam", "x", "-metadata-pod", "ci"},
		"no such file":  {"-iam", "/nonexistent"},
	} {
		assert.ErrorContains(t, run(t.Context(), args), want)
	}
}

func TestAnUnknownFieldOfTheFileIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "iam.yaml")
	require.NoError(t, os.WriteFile(path, []byte("serviceAcounts: {}\n"), 0o600))
	assert.ErrorContains(t, run(t.Context(), []string{"-iam", path}), "serviceAcounts")
}

func TestTheExampleRunsWithARealClusterAndAMetadataServer(t *testing.T) {
	c := cluster.Shared(t)
	ns := c.Namespace(t)
	kube, err := kubernetes.NewForConfig(c.Config)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := kube.CoreV1().ServiceAccounts(ns).Get(t.Context(), "default", getOptions())
		return err == nil
	}, wait, tick)
	out := capture(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"-iam", "../iam.example.yaml", "-listen", "127.0.0.1:0", "-kubeconfig", c.Kubeconfig,
			"-metadata-pod", ns + "/default", "-metadata-cluster", "https://container.googleapis.com/v1/projects/acme-ci/locations/europe-west1/clusters/ci"})
	}()
	require.Eventually(t, func() bool { return len(out()) == 2 }, wait, tick)
	lines := out()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+lines[1]+"/computeMetadata/v1/instance/service-accounts/default/token", nil)
	require.NoError(t, err)
	request.Header.Set("Metadata-Flavor", "Google")
	got, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer got.Body.Close()
	assert.Equal(t, http.StatusOK, got.StatusCode)
	assert.True(t, strings.HasPrefix(lines[0], "http://127.0.0.1:"))
	stop()
	require.NoError(t, <-done)
}
