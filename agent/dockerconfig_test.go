// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/agent"
)

// renewed lets the agent renew its login, and waits until it has.
func (w *world) renewed(a *agent.Agent) {
	w.t.Helper()
	logins := strings.Count(w.log.String(), `"host":`)
	w.rotateAfter(6 * time.Hour)
	w.until(func() bool { return strings.Count(w.log.String(), `"host":`) > logins }, "there was no renewal")
	w.idle(a)
}

// looked lets the agent look at its files once.
func (w *world) looked(ok func() bool, otherwise string) {
	w.t.Helper()
	w.clock.Step(time.Minute)
	w.until(ok, otherwise)
}

// amazon-ecr-login #147: with credsStore set, docker login at any other registry ends with "not implemented".
func TestAmazonECRLogin147AJobCanLogInToOtherRegistriesAndStaysLoggedIn(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	w.startReady(a)
	w.edit(func(_, auths map[string]any) { auths[elsewhere] = map[string]any{"auth": "bWU6bWluZQ=="} })
	w.renewed(a)
	assert.Equal(t, "mine", w.client(elsewhere).Password)
	require.NoError(t, w.taken())
	assert.NotContains(t, w.read(), "credsStore")
}

// amazon-ecr-login #337 and #431: "no basic auth credentials" at random, since one job's logout was that of all that shared a config.
func TestAmazonECRLogin337And431TheLogoutOfOneRunnersJobIsNotThatOfAnother(t *testing.T) {
	one, other := newWorld(t), newWorld(t)
	a := one.agent()
	one.startReady(a)
	other.startReady(other.agent())
	one.edit(func(_, auths map[string]any) { delete(auths, host) })
	assert.Empty(t, one.client(host).Username)
	require.NoError(t, other.taken())
	one.renewed(a)
	require.NoError(t, one.taken(), "the next renewal logs in again")
}

func TestALogoutHoldsUntilTheNextRenewal(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	w.edit(func(_, auths map[string]any) { delete(auths, host) })
	looks := 0
	w.looked(func() bool { looks++; return looks > 20 }, "")
	assert.Empty(t, w.client(host).Username)
}

func TestALoginThatTheJobMadeItselfIsKept(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	stop := w.startReady(a)
	w.edit(func(_, auths map[string]any) { auths[host] = map[string]any{"auth": "QVdTOnRoZWlycw=="} })
	w.renewed(a)
	assert.Equal(t, "theirs", w.client(host).Password)
	assert.Contains(t, w.log.String(), "the job has a login of its own")
	require.NoError(t, stop())
	assert.Equal(t, "theirs", w.client(host).Password)
}

func TestWhatElseIsInTheConfigIsKept(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	stop := w.startReady(a)
	w.edit(func(config, _ map[string]any) {
		config["credHelpers"] = map[string]any{"public.ecr.aws": "ecr-login"}
		config["proxies"] = map[string]any{"default": map[string]any{"httpProxy": "http://proxy.acme.example:3128"}}
		config["newerThanUs"] = []any{1.0, nil}
	})
	w.renewed(a)
	require.NoError(t, stop())
	got := w.read()
	assert.Equal(t, map[string]any{"public.ecr.aws": "ecr-login"}, got["credHelpers"])
	assert.Contains(t, got, "proxies")
	assert.Equal(t, []any{1.0, nil}, got["newerThanUs"])
}

// docker login reads the whole file and writes it as it was: an old login of ours may come back with it.
func TestARenewedLoginThatAClientHasPutBackIsRenewedAgain(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	w.startReady(a)
	old, err := os.ReadFile(w.configFile())
	require.NoError(t, err)
	w.renewed(a)
	renewed := w.client(host)
	w.write(string(old))
	require.NotEqual(t, renewed, w.client(host))
	w.looked(func() bool { return w.client(host) == renewed }, "the old login stays")
}

func TestAConfigThatIsNoJSONIsLeftAloneUntilItIs(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.dockerConfig(), 0o777))
	w.write(`{"auths": {"ghcr.io": {"auth": "geheim`)
	w.startReady(w.agent())
	b, err := os.ReadFile(w.configFile())
	require.NoError(t, err)
	assert.Equal(t, `{"auths": {"ghcr.io": {"auth": "geheim`, string(b))
	assert.NotContains(t, w.log.String(), "geheim")
	w.write("")
	w.looked(func() bool { return w.client(host).Username == "AWS" }, "the login is not written")
}

func TestTheRunnersUserCanReadAndReplaceTheConfig(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	assert.Equal(t, fs.FileMode(0o777), mode(t, w.dockerConfig()))
	assert.Equal(t, fs.FileMode(0o666), mode(t, w.configFile()))
	assert.Equal(t, fs.FileMode(0o600), mode(t, filepath.Join(w.dir, "logins.json")))
}

func TestAConfigThatTheRunnersUserHasMadeItsOwnStaysItsOwn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("gives a file to another user: needs root, which the agent is")
	}
	w := newWorld(t)
	a := w.agent()
	w.startReady(a)
	require.NoError(t, os.Chown(w.configFile(), 1001, 1001))
	require.NoError(t, os.Chmod(w.configFile(), 0o600))
	w.renewed(a)
	require.NoError(t, w.taken())
	info, err := os.Stat(w.configFile())
	require.NoError(t, err)
	assert.Equal(t, uint32(1001), info.Sys().(*syscall.Stat_t).Uid)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

// The agent is root, and the job may write in its directory.
func TestALinkOutOfTheDirectoryIsNotFollowed(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(outside, []byte("{}"), 0o600))
	require.NoError(t, os.MkdirAll(w.dockerConfig(), 0o777))
	require.NoError(t, os.Symlink(outside, w.configFile()))
	w.startReady(w.agent())
	b, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(b))
	assert.Contains(t, w.log.String(), "cannot be written")
}

func mode(t *testing.T, file string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	return info.Mode().Perm()
}
