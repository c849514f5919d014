// SPDX-License-Identifier: Apache-2.0

// Package job is what the GitHub simulator and the stand-in runner tell each other of a job, in JSON. It imports nothing, so that
// the runner's program stays small.
package job

// A Job is one job of a workflow.
type Job struct {
	ID int64 `json:"id"`
	// Scope is that of the runners that may take the job, such as "orgs/acme"; empty for any.
	Scope string `json:"scope,omitempty"`
	// Labels are those that its runner must have, all of them.
	Labels []string `json:"labels"`
	Steps  []Step   `json:"steps"`

	Status     Status     `json:"status"`
	Conclusion Conclusion `json:"conclusion,omitempty"`
	// Problem is why the job did not succeed, where no step's result says so.
	Problem string `json:"problem,omitempty"`
	// Runner is the name of the runner that took the job.
	Runner string `json:"runner,omitempty"`
	// Results are those of the steps so far, that of the job-started hook before them if there is one.
	Results []Result `json:"results"`
}

// A Step is one or more command lines.
type Step struct {
	Name string `json:"name,omitempty"`
	Run  string `json:"run"`
	// Shell runs them, such as "bash". Without one, the lines are the runner's own commands: see its README.
	Shell string            `json:"shell,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
}

// A Result is what became of a step.
type Result struct {
	Name string `json:"name"`
	// Conclusion is empty while the step runs.
	Conclusion Conclusion `json:"conclusion,omitempty"`
	// Problem is why the step did not succeed.
	Problem string `json:"problem,omitempty"`
	// Output is both of its streams, the end of it if it is long.
	Output string `json:"output,omitempty"`
}

// An End is how a runner tells that a job is over.
type End struct {
	Conclusion Conclusion `json:"conclusion"`
	Problem    string     `json:"problem,omitempty"`
}

// Status is where a job stands, in GitHub's words.
type Status string

// The statuses of jobs.
const (
	Queued     Status = "queued"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// Conclusion is how a job or step ended, in GitHub's words.
type Conclusion string

// The conclusions of jobs and steps.
const (
	Success   Conclusion = "success"
	Failure   Conclusion = "failure"
	Cancelled Conclusion = "cancelled"
)
