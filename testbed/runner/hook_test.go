// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

const hookVar = "ACTIONS_RUNNER_HOOK_JOB_STARTED="

func TestWhatTheHookSetsReachesTheSteps(t *testing.T) {
	for name, test := range map[string]struct {
		hook string
		step job.Step
		want string
	}{
		"a line":                            {`echo A=from the hook=1 >> "$GITHUB_ENV"`, job.Step{Run: "env A"}, "from the hook=1\n"},
		"several lines":                     {`printf 'A<<END\none\n\ntwo=2\nEND\nB=b\n' >> "$GITHUB_ENV"`, job.Step{Run: "env A\nenv B"}, "one\n\ntwo=2\nb\n"},
		"also programs of steps":            {`echo A=hook >> "$GITHUB_ENV"`, job.Step{Run: `echo "$A"`, Shell: "sh"}, "hook\n"},
		"over the pod's environment":        {`echo "FROM_POD=$FROM_POD and hook" >> "$GITHUB_ENV"`, job.Step{Run: "env FROM_POD"}, "pod and hook\n"},
		"below the step's environment":      {`echo A=hook >> "$GITHUB_ENV"`, job.Step{Run: "env A", Env: map[string]string{"A": "step"}}, "step\n"},
		"but not GitHub's own variables":    {`echo RUNNER_NAME=mine >> "$GITHUB_ENV"`, job.Step{Run: "env RUNNER_NAME"}, "r1\n"},
		"but not what it only exports":      {`export FROM_POD=hook`, job.Step{Run: "env FROM_POD"}, "pod\n"},
		"nothing, if it removes the file":   {`rm "$GITHUB_ENV"`, job.Step{Run: "env FROM_POD"}, "pod\n"},
		"but not NODE_OPTIONS":              {`echo NODE_OPTIONS=--require=/x >> "$GITHUB_ENV"`, job.Step{Run: "env NODE_OPTIONS"}, "--inspect\n"},
		"and its file in _temp stays there": {`echo here > "$RUNNER_TEMP/file"`, job.Step{Run: "cat $RUNNER_TEMP/file"}, "here\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			hook := w.write(t, "hook.sh", test.hook+"\n")
			j := w.do(t, []job.Step{test.step}, hookVar+hook, "FROM_POD=pod", "NODE_OPTIONS=--inspect")
			require.Len(t, j.Results, 2, j.Problem)
			assert.Equal(t, "Set up runner", j.Results[0].Name)
			assert.Equal(t, test.want, j.Results[1].Output)
		})
	}
}

func TestWhatAStepSetsReachesTheNextAndNotItself(t *testing.T) {
	w := newWorld(t)
	j := w.do(t, []job.Step{
		{Run: `echo A=step >> "$GITHUB_ENV"; echo "A is $A"`, Shell: "sh"}, {Run: "env A"}, {Run: `wc -c < "$GITHUB_ENV"`, Shell: "sh"},
	})
	require.Len(t, j.Results, 3)
	assert.Equal(t, "A is \n", j.Results[0].Output)
	assert.Equal(t, "step\n", j.Results[1].Output)
	assert.Equal(t, "0\n", j.Results[2].Output, "each has a file of its own")
}

func TestAHookThatFailsFailsTheJob(t *testing.T) {
	for name, test := range map[string]struct {
		file, hook, wantProblem string
	}{
		"by its exit code":               {"hook.sh", "echo cloud says no; exit 3", "exit status 3"},
		"by a command within it":         {"hook.sh", "false\necho never", "exit status 1"},
		"by a line that says nothing":    {"hook.sh", `echo nonsense >> "$GITHUB_ENV"`, "$GITHUB_ENV: line 1: is neither NAME=value nor NAME<<WORD"},
		"by a value that has no end":     {"hook.sh", `echo 'A<<END' >> "$GITHUB_ENV"`, `$GITHUB_ENV: line 1: A has no end: a line "END" must follow`},
		"since it is not a script":       {"hook", "true", `hook" must end in .sh (GitHub's runner also takes .ps1 and .js)`},
		"since it is not there any more": {"other.sh", "true", "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, test.file, test.hook+"\n")
			path := w.file(test.file)
			if test.file == "other.sh" {
				path = w.file("hook.sh")
			}
			j := w.do(t, []job.Step{{Run: "exec echo never"}}, hookVar+path)
			assert.Equal(t, job.Failure, j.Conclusion)
			require.Len(t, j.Results, 1, "no step runs")
			assert.Equal(t, "Set up runner", j.Results[0].Name)
			assert.Equal(t, job.Failure, j.Results[0].Conclusion)
			assert.Contains(t, j.Results[0].Problem, test.wantProblem)
			assert.NotContains(t, j.Results[0].Output, "never")
			assert.Contains(t, j.Problem, test.wantProblem)
			assert.Empty(t, w.Runners())
		})
	}
}

func TestTempIsEmptiedBeforeTheHookAndAfterTheJob(t *testing.T) {
	w := newWorld(t)
	w.write(t, "_work/_temp/_github_home/.aws/config", "of another job")
	w.write(t, "_work/_temp/file", "of another job")
	w.write(t, "_work/_actions/checkout", "of another job")
	w.write(t, "_work/_tool/go", "kept")
	hook := w.write(t, "hook.sh", `find "$RUNNER_TEMP" "$RUNNER_TEMP/../_actions" "$RUNNER_TEMP/../_tool" -type f | sed 's,.*/_work/,,; s,set_env_.*,set_env,; s,_temp/../,,'`)
	j := w.do(t, []job.Step{{Run: "touch $RUNNER_TEMP/of-the-job", Shell: "sh"}}, hookVar+hook)
	assert.Equal(t, job.Success, j.Conclusion, j.Problem)
	assert.Equal(t, "_temp/_runner_file_commands/set_env\n_tool/go\n", j.Results[0].Output)
	left, err := os.ReadDir(w.file("_work/_temp"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestInAnImageWithoutAShellTheHookRunsByItself(t *testing.T) {
	w := newWorld(t)
	hook := w.write(t, "hook.sh", "#!/bin/sh\necho A=alone >> \"$GITHUB_ENV\"\n")
	j := w.do(t, []job.Step{{Run: "env A"}}, hookVar+hook, "PATH="+t.TempDir())
	require.Len(t, j.Results, 2, j.Problem)
	assert.Equal(t, "alone\n", j.Results[1].Output)
}
