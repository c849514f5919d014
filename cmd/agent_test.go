// SPDX-License-Identifier: Apache-2.0

package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/cmd"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/gcp"
)

// asProgram is the variable that makes this test binary the program itself.
const asProgram = "RUNNER_IDENTITY_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run is the program's main.
func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	providers, err := identity.NewSet(aws.New(), gcp.New())
	if err != nil {
		return err
	}
	return cmd.Root(providers).ExecuteContext(ctx)
}

// program is the program as a process of its own.
func program(t *testing.T, env string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), asProgram+"=1", "RUNNER_IDENTITY_AGENT="+env)
	var log bytes.Buffer
	c.Stderr = &log
	return c, &log
}

// stopped sends SIGTERM, and expects a clean end.
func stopped(t *testing.T, c *exec.Cmd, log *bytes.Buffer) {
	t.Helper()
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.Wait(), "%s", log)
}

func eventuallyReady(t *testing.T, dir string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := runCommand(t, "", "agent", "ready", "--dir", dir)
		return err == nil
	}, 30*time.Second, 20*time.Millisecond)
}

func TestTheAgentIsReadyRunsUntilSIGTERMAndEndsWell(t *testing.T) {
	dir, job, work := t.TempDir(), t.TempDir(), t.TempDir()
	_, err := runCommand(t, "", "agent", "ready", "--dir", dir)
	require.ErrorContains(t, err, "not ready")
	c, log := program(t, `{"job":{"env":[{"name":"A","value":"a"}]}}`, "agent", "--dir", dir, "--job-dir", job, "--work-dir", work)
	require.NoError(t, c.Start())
	eventuallyReady(t, dir)
	assert.FileExists(t, filepath.Join(job, "job-started.sh"))
	stopped(t, c, log)
	assert.Contains(t, log.String(), `"msg":"stopped"`)
	for line := range bytes.Lines(log.Bytes()) {
		assert.True(t, json.Valid(line), "not a JSON line: %s", line)
	}
}

func TestAConfigurationThatCannotBeReadKeepsNoRunnerFromStarting(t *testing.T) {
	dir := t.TempDir()
	c, log := program(t, `{`, "agent", "--dir", dir)
	require.NoError(t, c.Start())
	eventuallyReady(t, dir)
	stopped(t, c, log)
	assert.Contains(t, log.String(), "nothing is done")
}

func TestSIGTERMEndsAnAgentThatWaitsForACloudThatHangs(t *testing.T) {
	asked := make(chan struct{}, 16)
	release := make(chan struct{})
	cloud := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-release
	}))
	defer cloud.Close()
	defer close(release)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("t"), 0o600))
	host := "111122223333.dkr.ecr.eu-west-1.amazonaws.com"
	config := fmt.Sprintf(`{"provider":"aws","hosts":[%q],"token":%q,"request":{"namespace":"ci","name":"website","accounts":{"runner":"r","job":"j"},"targets":1,
		"registries":[%q],"settings":{"region":"eu-west-1","roleARN":"arn:aws:iam::111122223333:role/ci","endpoints":{"sts":%q,"ecr":%q}}}}`,
		host, token, host, cloud.URL, cloud.URL)
	dir := t.TempDir()
	c, log := program(t, config, "agent", "--dir", dir)
	require.NoError(t, c.Start())
	select {
	case <-asked:
	case <-t.Context().Done():
	}
	_, err := runCommand(t, "", "agent", "ready", "--dir", dir)
	require.Error(t, err, "the cloud may answer yet")
	stopped(t, c, log)
}
