// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/agent"
)

// jobStarted does what the runner does before a job's containers start: it empties its temporary directory, makes the home directory
// and runs the hook. It returns what the hook put into $GITHUB_ENV and said.
func (w *world) jobStarted() (env map[string]string, said string, err error) {
	w.t.Helper()
	require.NoError(w.t, os.RemoveAll(filepath.Join(w.work, "_temp")))
	commands := filepath.Join(w.work, "_temp", "_runner_file_commands")
	require.NoError(w.t, os.MkdirAll(commands, 0o755))
	require.NoError(w.t, os.MkdirAll(w.home, 0o755))
	file := filepath.Join(commands, "set_env")
	require.NoError(w.t, os.WriteFile(file, nil, 0o644))
	hook := exec.CommandContext(w.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", filepath.Join(w.job, "job-started.sh"))
	hook.Env = []string{"PATH=" + os.Getenv("PATH"), "GITHUB_ENV=" + file, "RUNNER_TEMP=" + filepath.Join(w.work, "_temp")}
	var out bytes.Buffer
	hook.Stdout, hook.Stderr = &out, &out
	err = hook.Run()
	b, readErr := os.ReadFile(file)
	require.NoError(w.t, readErr)
	env = map[string]string{}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		env[name] = value
	}
	return env, out.String(), err
}

func (w *world) token() string { return filepath.Join(w.home, ".runner-identity", "aws", "token") }

func TestTheHookGivesTheJobFilesAndPointers(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	env, said, err := w.jobStarted()
	require.NoError(t, err, said)
	assert.Empty(t, said)
	assert.Equal(t, map[string]string{
		"AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": w.token(), "AWS_ROLE_SESSION_NAME": "ci-website", "AWS_REGION": region,
		"AWS_DEFAULT_REGION": region, "AWS_STS_REGIONAL_ENDPOINTS": "regional", "AWS_EC2_METADATA_DISABLED": "true",
	}, env)
	config, err := os.ReadFile(filepath.Join(w.home, ".aws", "config"))
	require.NoError(t, err)
	assert.Contains(t, string(config), "web_identity_token_file = "+w.token()+"\n")
}

// container-hooks 6.3: files are plain, directories 0755 and files 0644; links and what is not a file break hooks that copy.
func TestFilesOfTheJobArePlainAndReadableByContainersOfAnyUser(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	_, said, err := w.jobStarted()
	require.NoError(t, err, said)
	files := 0
	require.NoError(t, filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() {
			assert.Equal(t, fs.FileMode(0o5), mode(t, path)&0o5, path)
			return nil
		}
		files++
		assert.True(t, d.Type().IsRegular(), path)
		assert.Equal(t, fs.FileMode(0o644), mode(t, path), path)
		return nil
	}))
	assert.Equal(t, 2, files)
	assert.Equal(t, fs.FileMode(0o777), mode(t, filepath.Join(w.home, ".aws")), "the CLI caches there, as the container's user")
}

func TestNothingThatTheHookSetsIsSecret(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	env, _, err := w.jobStarted()
	require.NoError(t, err)
	token, err := os.ReadFile(w.token())
	require.NoError(t, err)
	for name, value := range env {
		assert.NotContains(t, value, string(token), name)
	}
}

func TestARenewedTokenReachesTheJobThatRuns(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	_, _, err := w.jobStarted()
	require.NoError(t, err)
	before, err := os.ReadFile(w.token())
	require.NoError(t, err)
	w.signedAt(w.clock.Now().Add(time.Second))
	w.looked(func() bool {
		now, err := os.ReadFile(w.token())
		return err == nil && !bytes.Equal(now, before)
	}, "the job has the old token")
	assert.Equal(t, fs.FileMode(0o644), mode(t, w.token()))
	staged, err := filepath.Glob(filepath.Join(w.work, "_temp", "*", ".*", "*", ".new*"))
	require.NoError(t, err)
	assert.Empty(t, staged)
	assert.DirExists(t, filepath.Join(w.work, "_runner-identity"), "it is written outside of _temp, in the same volume")
}

func TestATokenIsNotPutWhereNoJobHasIt(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	before, err := os.ReadFile(filepath.Join(w.job, "aws", "token"))
	require.NoError(t, err)
	w.signedAt(w.clock.Now().Add(time.Second))
	w.looked(func() bool {
		now, err := os.ReadFile(filepath.Join(w.job, "aws", "token"))
		return err == nil && !bytes.Equal(now, before)
	}, "the next job would have the old token")
	assert.NoDirExists(t, w.home)
}

func TestAJobThatRedirectsItsFilesRedirectsNothingElse(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	_, _, err := w.jobStarted()
	require.NoError(t, err)
	outside := t.TempDir()
	dir := filepath.Dir(w.token())
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.Symlink(outside, dir))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "token"), []byte("theirs"), 0o600))
	w.signedAt(w.clock.Now().Add(time.Second))
	w.looked(func() bool { return strings.Contains(w.log.String(), "tokens of jobs cannot be renewed") }, "the link was followed")
	b, err := os.ReadFile(filepath.Join(outside, "token"))
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(b))
}

func TestStoppingTakesTheTokensBack(t *testing.T) {
	w := newWorld(t)
	stop := w.startReady(w.agent())
	_, _, err := w.jobStarted()
	require.NoError(t, err)
	require.NoError(t, stop())
	assert.NoFileExists(t, w.token())
	assert.NoFileExists(t, filepath.Join(w.job, "aws", "token"))
	assert.NoDirExists(t, filepath.Join(w.work, "_runner-identity"))
}

func TestTheOperatorsOwnHookRunsAfterOursAndDecidesWhetherTheJobFails(t *testing.T) {
	for name, tc := range map[string]struct {
		file, text string
		exit       int
	}{
		"a script":                  {"own hook.sh", "echo own\n", 0},
		"one that fails":            {"own.sh", "echo own; exit 7\n", 7},
		"one that bash has to stop": {"own.sh", "echo own; false; echo never\n", 1},
		"one in another language":   {"own.js", "#!/usr/bin/env bash\necho own\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.agent()
			a.Then = filepath.Join(t.TempDir(), tc.file)
			require.NoError(t, os.WriteFile(a.Then, []byte(tc.text), 0o755))
			w.startReady(a)
			env, said, err := w.jobStarted()
			assert.Equal(t, "own\n", said)
			assert.Contains(t, env, "AWS_ROLE_ARN")
			exit := 0
			if err != nil {
				var failed *exec.ExitError
				require.ErrorAs(t, err, &failed)
				exit = failed.ExitCode()
			}
			assert.Equal(t, tc.exit, exit)
		})
	}
}

func TestWhatGoesWrongInOurHookDoesNotFailTheJob(t *testing.T) {
	w := newWorld(t)
	w.startReady(w.agent())
	require.NoError(t, os.Remove(filepath.Join(w.job, "aws", "token")))
	require.NoError(t, os.Remove(filepath.Join(w.job, ".env")))
	_, said, err := w.jobStarted()
	require.NoError(t, err)
	assert.Contains(t, said, "runner-identity: .runner-identity/aws/token cannot be written. The job goes on")
	assert.Contains(t, said, "variables cannot be set")
}

func TestAConfigurationThatIsNotUnderstoodStillRunsTheOperatorsHook(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	a.Config = agent.Config{}
	a.Then = filepath.Join(t.TempDir(), "own.sh")
	require.NoError(t, os.WriteFile(a.Then, []byte("echo own\n"), 0o755))
	w.start(a)
	w.until(func() bool { return agent.Ready(w.dir) == nil }, "the runner waits")
	env, said, err := w.jobStarted()
	require.NoError(t, err)
	assert.Equal(t, "own\n", said)
	assert.Empty(t, env)
}

func TestAVariableThatWouldSetAnotherIsLeftOut(t *testing.T) {
	w := newWorld(t)
	a := w.agent()
	a.Config.Job.Env = append(a.Config.Job.Env, agent.Variable{Name: "A", Value: "a\nPATH=/evil"})
	w.startReady(a)
	env, _, err := w.jobStarted()
	require.NoError(t, err)
	assert.NotContains(t, env, "PATH")
	assert.NotContains(t, env, "A")
}
