// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

func TestARunnerTakesAJobAndReportsIt(t *testing.T) {
	w := newWorld(t)
	gate, open := w.gate(t)
	p := w.start(t)
	w.online(t)
	assert.False(t, w.Runners()[0].Busy)

	w.AddJob(job.Job{Labels: []string{"self-hosted"}, Steps: []job.Step{
		{Name: "wait", Run: gate, Shell: "sh"},
		{Run: "exec echo $GITHUB_WORKSPACE"},
	}})
	w.inStep(t)
	require.Len(t, w.Runners(), 1)
	assert.True(t, w.Runners()[0].Busy)
	j, _ := w.Job(1)
	assert.Equal(t, job.InProgress, j.Status)
	assert.Equal(t, []job.Result{{Name: "wait"}}, j.Results)

	open()
	require.Equal(t, 0, p.exit(t), p.log)
	j, _ = w.Job(1)
	assert.Equal(t, job.Success, j.Conclusion)
	assert.Equal(t, "r1", j.Runner)
	require.Len(t, j.Results, 2)
	assert.Equal(t, job.Result{
		Name: "Run exec echo $GITHUB_WORKSPACE", Conclusion: job.Success, Output: w.file("_work/repository/repository") + "\n",
	}, j.Results[1])
	assert.Empty(t, w.Runners(), "an ephemeral runner is forgotten after its job")
	assert.NotContains(t, p.log.String(), "Told to end")
}

func TestCommandsOfARunnerWithoutAShell(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			out.WriteHeader(http.StatusTeapot)
		}
		_, _ = out.Write([]byte(r.Method + " page\n"))
	}))
	t.Cleanup(page.Close)
	for name, test := range map[string]struct {
		run, output, problem string
	}{
		"a variable":                            {"env COLOUR", "red\n", ""},
		"a variable that is not":                {"env SIZE", "", "env: SIZE: is not set"},
		"a file":                                {"cat $HOUSE/file", "content\n", ""},
		"a file that is not":                    {"cat /nowhere", "", "cat: open /nowhere: no such file or directory"},
		"a page":                                {"http GET " + page.URL, "GET page\n", ""},
		"a page with a method":                  {"http POST " + page.URL, "POST page\n", ""},
		"a page that is refused":                {"http GET " + page.URL + "/tea", "GET page\n", "http: GET " + page.URL + "/tea: 418 I'm a teapot"},
		"a program with variables in its line":  {"exec echo ${COLOUR} $COLOUR", "red red\n", ""},
		"a program that fails":                  {"exec false", "", "exec: exit status 1"},
		"a program that is not":                 {"exec no-such-program", "", `exec: exec: "no-such-program": executable file not found in $PATH`},
		"waiting":                               {"sleep 1ms", "", ""},
		"waiting for no time":                   {"sleep soon", "", `sleep: time: invalid duration "soon"`},
		"several lines":                         {"env COLOUR\n\nexec echo done\n", "red\ndone\n", ""},
		"lines after one that fails do not run": {"exec false\nexec echo no", "", "exec: exit status 1"},
		"what is no command": {"echo hello", "", "echo: no such command: must be env NAME, cat FILE, http METHOD URL, " +
			"sleep DURATION or exec ARGS, or the step must have a shell"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, "file", "content\n")
			j := w.do(t, []job.Step{{Run: test.run, Env: map[string]string{"COLOUR": "red"}}}, "HOUSE="+w.home)
			require.Len(t, j.Results, 1)
			assert.Equal(t, test.output, j.Results[0].Output)
			assert.Equal(t, test.problem, j.Results[0].Problem)
			assert.Equal(t, test.problem == "", j.Conclusion == job.Success)
		})
	}
}

func TestStepsAfterOneThatFailsDoNotRun(t *testing.T) {
	w := newWorld(t)
	j := w.do(t, []job.Step{{Name: "break", Run: "echo out; echo err >&2; false; echo never", Shell: "sh"}, {Run: "exec echo never"}})
	assert.Equal(t, job.Failure, j.Conclusion)
	assert.Equal(t, `step "break": exit status 1`, j.Problem)
	assert.Equal(t, []job.Result{{Name: "break", Conclusion: job.Failure, Problem: "exit status 1", Output: "out\nerr\n"}}, j.Results)
}

func TestTheJITConfigurationIsHiddenFromTheJob(t *testing.T) {
	w := newWorld(t)
	j := w.do(t, []job.Step{{Run: "exec env"}}, "FROM_THE_POD=yes")
	assert.Contains(t, j.Results[0].Output, "FROM_THE_POD=yes\n")
	assert.NotContains(t, j.Results[0].Output, "JITCONFIG")
	assert.NotContains(t, j.Results[0].Output, w.config)
}

func TestOnlyTheEndOfALongOutputIsReported(t *testing.T) {
	w := newWorld(t)
	j := w.do(t, []job.Step{{Run: "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end", Shell: "sh"}})
	assert.Len(t, j.Results[0].Output, 1<<20)
	assert.True(t, strings.HasSuffix(j.Results[0].Output, "x\nend\n"))
}

func TestAProcessThatAStepLeavesBehindDoesNotHoldTheJob(t *testing.T) {
	w := newWorld(t)
	gate, open := w.gate(t)
	j := w.do(t, []job.Step{{Run: gate + " & echo started", Shell: "sh"}})
	assert.Equal(t, job.Success, j.Conclusion)
	assert.Equal(t, "started\n", j.Results[0].Output)
	open() // only now does it end
}

func TestAnAbsoluteWorkFolder(t *testing.T) {
	w := newWorld(t)
	elsewhere := t.TempDir()
	w.config = w.register(t, "r2", elsewhere)
	j := w.do(t, []job.Step{{Run: "env RUNNER_TEMP"}})
	assert.Equal(t, elsewhere+"/_temp\n", j.Results[0].Output)
	_, err := os.Stat(w.file("_work"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}
