// SPDX-License-Identifier: Apache-2.0

package runner_test

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
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sim "github.com/runner-identity/runner-identity/testbed/github"
	"github.com/runner-identity/runner-identity/testbed/github/job"
	"github.com/runner-identity/runner-identity/testbed/image"
)

const (
	patience = 30 * time.Second
	often    = 10 * time.Millisecond
)

// program is the runner's, built once.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "runner-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "standin")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := image.Compile(ctx, "github.com/runner-identity/runner-identity/testbed/runner/standin", program); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// world is a simulator with one registered runner and the directory that it runs in.
type world struct {
	*sim.Simulator
	url    string
	home   string
	config string
	down   atomic.Bool   // no call gets an answer
	away   atomic.Int64  // calls that got none
	polls  atomic.Int64  // calls for a job
	late   atomic.Bool   // jobs are held back on their way to the runner until it wants to leave
	leaves chan struct{} // closes then
}

func newWorld(t *testing.T) *world {
	t.Helper()
	github := sim.New(sim.Options{Tokens: []sim.Token{{Value: "ghp_ok", Scopes: []string{"*"}}}})
	w := &world{Simulator: github, home: t.TempDir(), leaves: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if w.down.Load() {
			w.away.Add(1)
			panic(http.ErrAbortHandler)
		}
		if r.Method == http.MethodGet {
			w.polls.Add(1)
		}
		switch {
		case w.late.Load() && r.Method == http.MethodGet:
			w.hold(out, r)
			return
		case w.late.Load() && r.Method == http.MethodDelete:
			defer close(w.leaves)
		}
		w.ServeHTTP(out, r)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	w.config = w.register(t, "r1", "_work")
	return w
}

// hold lets an answer go when the runner has asked to leave.
func (w *world) hold(out http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	w.ServeHTTP(answer, r)
	<-w.leaves
	out.WriteHeader(answer.Code)
	_, _ = out.Write(answer.Body.Bytes())
}

// register is the JIT configuration of a new runner.
func (w *world) register(t *testing.T, name, workFolder string) string {
	t.Helper()
	body := fmt.Sprintf(`{"name": %q, "work_folder": %q, "runner_group_id": 1, "labels": ["self-hosted", "linux"]}`, name, workFolder)
	r, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/orgs/acme/actions/runners/generate-jitconfig", strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer ghp_ok")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var answer struct {
		Config string `json:"encoded_jit_config"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	require.NotEmpty(t, answer.Config)
	return answer.Config
}

// file is a file in the runner's directory.
func (w *world) file(path string) string { return filepath.Join(w.home, path) }

func (w *world) write(t *testing.T, path, content string) string {
	t.Helper()
	file := w.file(path)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(content), 0o755))
	return file
}

// gate is a shell's command that ends when the test opens it.
func (w *world) gate(t *testing.T) (command string, open func()) {
	t.Helper()
	path := w.file("gate")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return "read line < " + path, func() {
		// Open for both, and open until the end: neither side waits for the other then, and the line is not lost.
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		_, err = f.WriteString("open\n")
		require.NoError(t, err)
	}
}

// online waits until the runner listens for jobs.
func (w *world) online(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		r := w.Runners()
		return len(r) == 1 && r[0].Status == sim.Online
	}, patience, often)
}

// turnedAway waits until a call got no answer, and lets those that follow get one.
func (w *world) turnedAway(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return w.away.Load() > 0 }, patience, often)
	w.down.Store(false)
	w.away.Store(0)
}

// inStep waits until the job's first step runs.
func (w *world) inStep(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		j, _ := w.Job(1)
		return len(j.Results) > 0
	}, patience, often)
}

// do queues a job, starts the runner for it, and is the job when both are over.
func (w *world) do(t *testing.T, steps []job.Step, env ...string) job.Job {
	t.Helper()
	w.AddJob(job.Job{Labels: []string{"self-hosted"}, Steps: steps})
	p := w.start(t, env...)
	require.Equal(t, 0, p.exit(t), p.log)
	j, _ := w.Job(1)
	require.Equal(t, job.Completed, j.Status)
	return j
}

// process is the running program.
type process struct {
	cmd  *exec.Cmd
	log  *log
	over chan struct{}
}

// start starts the program in a clean environment.
func (w *world) start(t *testing.T, env ...string) *process {
	t.Helper()
	p := &process{cmd: exec.CommandContext(t.Context(), program), log: &log{}, over: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "RUNNER_HOME=" + w.home, "ACTIONS_RUNNER_INPUT_JITCONFIG=" + w.config}, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // exit reads the state
		close(p.over)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.over
	})
	return p
}

func (p *process) terminate(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
}

// exit waits for the end and is its code.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.over:
	case <-time.After(patience):
		require.Fail(t, "the runner does not end", p.log.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// log is written by the program and read by the test.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
