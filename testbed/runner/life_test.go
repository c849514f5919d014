// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	sim "github.com/runner-identity/runner-identity/testbed/github"
	"github.com/runner-identity/runner-identity/testbed/github/job"
)

func TestARunnerThatCanNotRegisterEnds(t *testing.T) {
	for name, test := range map[string]struct {
		before func(*testing.T, *world)
		env    string
		want   string
	}{
		"its JIT configuration was used before": {func(t *testing.T, w *world) {
			_, _, status := w.Connect(w.config)
			require.Equal(t, 200, status)
		}, "", "register: GitHub says 409: the JIT configuration was used before"},
		"its registration is gone": {func(_ *testing.T, w *world) { w.Set("r1", sim.Done) }, "", "register: GitHub says 404: " +
			"the body is not the JIT configuration of a registered runner"},
		"it has no JIT configuration": {nil, "ACTIONS_RUNNER_INPUT_JITCONFIG=", "ACTIONS_RUNNER_INPUT_JITCONFIG: is empty: " +
			"must be the JIT configuration of a runner"},
		"its JIT configuration is something else": {nil, "ACTIONS_RUNNER_INPUT_JITCONFIG=ghp_secret", "ACTIONS_RUNNER_INPUT_JITCONFIG: must be " +
			"the base64 of a JSON object with the base64 of .runner, as GitHub's API gave it"},
		"its grace is no number":  {nil, "RUNNER_GRACEFUL_STOP_TIMEOUT=1m", `RUNNER_GRACEFUL_STOP_TIMEOUT: is "1m": must be a number of seconds`},
		"its choice is no choice": {nil, "RUNNER_KEEP_REGISTRATION=perhaps", `RUNNER_KEEP_REGISTRATION: is "perhaps": must be true or false`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.before != nil {
				test.before(t, w)
			}
			p := w.start(t, test.env)
			assert.Equal(t, 1, p.exit(t))
			assert.Equal(t, test.want, strings.TrimSpace(p.log.String()))
		})
	}
}

func TestAJITConfigurationIsGoodForOneRunner(t *testing.T) {
	w := newWorld(t)
	first := w.start(t)
	w.online(t)
	second := w.start(t)
	assert.Equal(t, 1, second.exit(t))
	w.AddJob(job.Job{Steps: []job.Step{{Run: "exec true"}}})
	assert.Equal(t, 0, first.exit(t), "the first does not mind")
}

func TestToldToEndWhileIdle(t *testing.T) {
	for name, test := range map[string]struct {
		env  string
		want []string
	}{
		"it ends and takes its registration along":         {"RUNNER_KEEP_REGISTRATION=false", nil},
		"it ends, as GitHub's program does, registered on": {"RUNNER_KEEP_REGISTRATION=true", []string{"offline"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.start(t, test.env)
			w.online(t)
			p.terminate(t)
			assert.Equal(t, 0, p.exit(t), p.log)
			var got []string
			for _, r := range w.Runners() {
				got = append(got, r.Status)
			}
			assert.Equal(t, test.want, got)
			w.AddJob(job.Job{})
			assert.Equal(t, job.Queued, w.Jobs()[0].Status)
		})
	}
}

func TestToldToEndWhileAJobRunsItFinishesTheJob(t *testing.T) {
	w := newWorld(t)
	gate, open := w.gate(t)
	w.AddJob(job.Job{Steps: []job.Step{{Run: gate, Shell: "sh"}, {Run: "exec echo finished"}}})
	p := w.start(t, "RUNNER_GRACEFUL_STOP_TIMEOUT=60")
	w.inStep(t)
	p.terminate(t)
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "the job has 1m0s more") }, patience, often)
	open()
	assert.Equal(t, 0, p.exit(t), p.log)
	j, _ := w.Job(1)
	assert.Equal(t, job.Success, j.Conclusion)
	require.Len(t, j.Results, 2)
	assert.Equal(t, "finished\n", j.Results[1].Output)
	assert.Empty(t, w.Runners())
}

func TestAJobThatOutlivesTheGraceIsBrokenOff(t *testing.T) {
	w := newWorld(t)
	gate, _ := w.gate(t)
	w.AddJob(job.Job{Steps: []job.Step{{Name: "long", Run: "sh -c 'echo $$ > " + w.file("pid") + "; " + gate + "'; true", Shell: "sh"}, {Run: "exec echo never"}}})
	p := w.start(t, "RUNNER_GRACEFUL_STOP_TIMEOUT=0")
	var pid string
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(w.file("pid"))
		pid = strings.TrimSpace(string(content))
		return err == nil && pid != ""
	}, patience, often)
	p.terminate(t)
	assert.Equal(t, 1, p.exit(t))
	j, _ := w.Job(1)
	assert.Equal(t, job.Cancelled, j.Conclusion)
	assert.Equal(t, `step "long": the job was still running at the end of RUNNER_GRACEFUL_STOP_TIMEOUT`, j.Problem)
	require.Len(t, j.Results, 1)
	require.Eventually(t, func() bool { return ended(pid) }, patience, often, "what the step has started ends too")
	assert.Empty(t, w.Runners())
}

// ended is true for processes that nobody has buried yet, too.
func ended(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestAJobThatIsOnItsWayAsTheRunnerIsToldToEndIsDone(t *testing.T) {
	w := newWorld(t)
	w.late.Store(true)
	p := w.start(t)
	w.online(t)
	w.AddJob(job.Job{Steps: []job.Step{{Run: "exec true"}}})
	require.Eventually(t, func() bool { return w.Jobs()[0].Status == job.InProgress }, patience, often)
	p.terminate(t)
	assert.Equal(t, 0, p.exit(t), p.log)
	assert.Equal(t, job.Success, w.Jobs()[0].Conclusion)
}

func TestARunnerThatIsRemovedWhileItWaitsEnds(t *testing.T) {
	w := newWorld(t)
	p := w.start(t)
	w.online(t)
	require.True(t, w.Set("r1", sim.Done))
	assert.Equal(t, 1, p.exit(t))
	assert.Contains(t, p.log.String(), "GitHub says 404: no such session")
}

func TestARunnerThatIsKilledWhileItWaitsIsOffline(t *testing.T) {
	w := newWorld(t)
	p := w.start(t)
	require.Eventually(t, func() bool { return w.polls.Load() > 0 }, patience, often)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGKILL))
	require.Eventually(t, func() bool { return w.Runners()[0].Status == sim.Offline }, patience, often)
	w.AddJob(job.Job{})
	assert.Equal(t, job.Queued, w.Jobs()[0].Status)
}

func TestARunnerThatIsKilledLeavesItsJobAndRegistrationBehind(t *testing.T) {
	w := newWorld(t)
	gate, open := w.gate(t)
	w.AddJob(job.Job{Steps: []job.Step{{Run: gate, Shell: "sh"}}})
	p := w.start(t)
	w.inStep(t)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGKILL))
	p.exit(t)
	require.Len(t, w.Runners(), 1)
	assert.True(t, w.Runners()[0].Busy)
	open() // for the step, which nobody has ended
}

func TestARunnerSurvivesThatGitHubIsDown(t *testing.T) {
	w := newWorld(t)
	gate, open := w.gate(t)
	w.AddJob(job.Job{Steps: []job.Step{{Run: gate, Shell: "sh"}}})
	w.down.Store(true)
	p := w.start(t)
	w.turnedAway(t) // as it registers
	w.inStep(t)
	w.down.Store(true)
	open()
	w.turnedAway(t) // as it reports
	assert.Equal(t, 0, p.exit(t), p.log)
	assert.Equal(t, job.Success, w.Jobs()[0].Conclusion)
}
