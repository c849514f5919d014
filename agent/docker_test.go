// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docker runs the real docker client as the runner's user, without a daemon, or skips the test.
func (w *world) docker(stdin string, args ...string) {
	w.t.Helper()
	path, err := exec.LookPath("docker")
	if err != nil {
		w.t.Skip("docker is not on this machine")
	}
	command := exec.CommandContext(w.t.Context(), path, args...)
	command.Env = []string{"DOCKER_CONFIG=" + w.dockerConfig(), "DOCKER_HOST=unix:///nowhere.sock", "HOME=/nowhere", "PATH=" + os.Getenv("PATH")}
	command.Stdin = strings.NewReader(stdin)
	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1001, Gid: 1001}}
		for dir := w.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			require.NoError(w.t, os.Chmod(dir, 0o755), "the directories of tests are their user's alone")
		}
	}
	out, err := command.CombinedOutput()
	require.NoError(w.t, err, "docker %s: %s", args, out)
}

// registry is one that takes the login me:mine.
func registry(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "mine" {
			rw.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			rw.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// ARC #2123: a config that the job may not write, or that is not renewed once it has.
func TestTheRealDockerClientLogsInAndOutAsTheRunnersUserBesideTheAgent(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	stop := w.startReady(a)
	own := registry(t)
	w.docker("mine", "login", own, "--username", "me", "--password-stdin")
	require.NoError(t, w.taken(), "the client keeps our login")
	assert.Equal(t, "me", w.client(own).Username)

	w.renewed(a)
	require.NoError(t, w.taken(), "the agent renews in the file that the client wrote")
	assert.Equal(t, fs.FileMode(0o666), mode(t, w.configFile()))

	w.docker("", "logout", host)
	assert.Empty(t, w.client(host).Username)
	w.renewed(a)
	require.NoError(t, w.taken())
	require.NoError(t, stop())
	assert.Equal(t, "mine", w.client(own).Password)
	assert.Empty(t, w.client(host).Username)
}
