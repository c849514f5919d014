// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const prefix = "runner-identity-test-"

func TestDirectoriesOfDeadProcessesAreSwept(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dead := filepath.Join(tmp, prefix+"dead")
	require.NoError(t, os.Mkdir(dead, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dead, lockFile), nil, 0o600))
	var left []string
	undo := func(dir string) error { left = append(left, dir); return nil }

	living, err := OpenDir("", prefix, undo)
	require.NoError(t, err)
	sweep(prefix, undo)

	assert.Equal(t, []string{dead, living.Path}, left, "each is told of once, the living one only by itself")
	assert.NoDirExists(t, dead)
	assert.DirExists(t, living.Path)
	require.NoError(t, living.Close())
	assert.NoDirExists(t, living.Path)
	assert.NoError(t, living.Close(), "closing again does nothing")
}

func TestWhatADeadOwnerLeftIsUndoneBeforeItsDirectoryGoes(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dead := filepath.Join(tmp, prefix+"dead")
	require.NoError(t, os.Mkdir(dead, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dead, lockFile), nil, 0o600))

	sweep(prefix, func(string) error { return assert.AnError })

	assert.DirExists(t, dead, "it is still needed to try again")
}

func TestADirectoryHasOneOwnerAndIsKeptIfTheUserNamedIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine")
	first, err := OpenDir(path, prefix, func(string) error { return nil })
	require.NoError(t, err)

	_, err = OpenDir(path, prefix, func(string) error { return nil })
	require.ErrorContains(t, err, "is in use by another process")

	require.NoError(t, first.Close())
	assert.DirExists(t, path)
}

// TestProgramsDieWithTheirParent runs itself as the parent, which is then killed as the out-of-memory killer would.
func TestProgramsDieWithTheirParent(t *testing.T) {
	if dir := os.Getenv("TEST_PARENT_DIR"); dir != "" {
		p, err := Start(Spec{Name: "sleep", Dir: dir, Argv: []string{"/bin/sleep", "600"}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(p.PID)), 0o600))
		<-p.Done
		return
	}
	dir := t.TempDir()
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProgramsDieWithTheirParent$")
	parent.Env = append(os.Environ(), "TEST_PARENT_DIR="+dir)
	require.NoError(t, parent.Start())
	var pid int
	require.Eventually(t, func() bool {
		raw, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(raw)))
		return pid != 0
	}, 10*time.Second, 10*time.Millisecond)

	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()

	require.Eventually(t, func() bool { return dead(pid) }, 10*time.Second, 10*time.Millisecond)
}

// dead is whether a process has ended. One that nobody has waited for yet, in a container without an init, is a zombie.
func dead(pid int) bool {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return syscall.Kill(pid, 0) != nil || bytes.Contains(stat, []byte(") Z "))
}
