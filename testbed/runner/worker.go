// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

// hookStep is what GitHub calls the step in which the job-started hook runs.
const hookStep = "Set up runner"

// worker does a job.
type worker struct {
	options   Options
	client    *client
	work      string // directories
	temp      string
	workspace string
	pod, set  environment // the runner's own, and what hook and steps have set since
	ours      environment // what nobody may set
	place     int         // of the next result
}

func newWorker(o Options, s settings, c *client) *worker {
	w := &worker{options: o, client: c, work: s.workDir(o.Home), pod: parseEnviron(o.Environ), set: environment{}}
	w.temp, w.workspace = filepath.Join(w.work, "_temp"), filepath.Join(w.work, "repository", "repository")
	w.ours = environment{
		"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": w.workspace, "RUNNER_NAME": s.AgentName, "RUNNER_OS": "Linux", "RUNNER_TEMP": w.temp,
	}
	w.pod["CI"] = "true"
	return w
}

// run does hook and steps, up to the first that does not succeed. The order is GitHub's: what must be found in _temp by the job can
// be written by the hook at the earliest.
func (w *worker) run(ctx context.Context, j job.Job) job.End {
	if err := w.prepare(); err != nil {
		return job.End{Conclusion: job.Failure, Problem: err.Error()}
	}
	defer w.empty(w.temp)
	if w.options.Hook != "" {
		if end := w.step(ctx, job.Step{Name: hookStep}, w.hook); end.Conclusion != job.Success {
			return end
		}
	}
	for _, s := range j.Steps {
		s.Name = cmp.Or(s.Name, "Run "+s.Run)
		if end := w.step(ctx, s, w.command); end.Conclusion != job.Success {
			return end
		}
	}
	return job.End{Conclusion: job.Success}
}

// prepare makes the directories and takes away what is left of another job.
func (w *worker) prepare() error {
	w.empty(w.temp)
	w.empty(filepath.Join(w.work, "_actions"))
	for _, dir := range []string{filepath.Join(w.temp, "_runner_file_commands"), w.workspace} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// empty takes away all that is in a directory. As with GitHub's runner, what can not be removed stays, and the job goes on.
func (w *worker) empty(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			w.options.say("Not removed: %v", err)
		}
	}
}

// An action is what a step does, within an environment.
type action func(ctx context.Context, s job.Step, env environment, out *output) error

// step does one step and reports it, when it begins and when it is over.
func (w *worker) step(ctx context.Context, s job.Step, do action) job.End {
	result := job.Result{Name: s.Name}
	if err := w.report(ctx, result); err != nil {
		return job.End{Conclusion: job.Failure, Problem: err.Error()}
	}
	w.options.say("##[group]%s", s.Name)
	out := &output{also: w.options.Log}
	err := w.attempt(ctx, s, do, out)
	result.Conclusion, result.Output = job.Success, out.String()
	switch {
	case ctx.Err() != nil:
		result.Conclusion, result.Problem = job.Cancelled, context.Cause(ctx).Error()
	case err != nil:
		result.Conclusion, result.Problem = job.Failure, err.Error()
		w.options.say("##[error]%v", err)
	}
	if err := w.report(ctx, result); err != nil {
		return job.End{Conclusion: job.Failure, Problem: err.Error()}
	}
	w.place++
	if result.Conclusion == job.Success {
		return job.End{Conclusion: job.Success}
	}
	return job.End{Conclusion: result.Conclusion, Problem: fmt.Sprintf("step %q: %s", s.Name, result.Problem)}
}

// attempt runs an action and takes what it wrote to $GITHUB_ENV into the environment of those that follow.
func (w *worker) attempt(ctx context.Context, s job.Step, do action, out *output) error {
	file := filepath.Join(w.temp, "_runner_file_commands", "set_env_"+rand.Text())
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		return err
	}
	env := environment{"GITHUB_ENV": file}.over(w.ours.over(w.set.over(w.pod)))
	if err := do(ctx, s, environment(s.Env).over(env), out); err != nil {
		return err
	}
	set, err := readEnvFile(file)
	if err != nil {
		return err
	}
	if _, ok := set["NODE_OPTIONS"]; ok {
		fmt.Fprintln(out, "##[error]Can't store NODE_OPTIONS output parameter using '$GITHUB_ENV' command.")
		delete(set, "NODE_OPTIONS")
	}
	w.set = set.over(w.set)
	return nil
}

func (w *worker) report(ctx context.Context, r job.Result) error {
	return w.client.report(context.WithoutCancel(ctx), w.place, r)
}
