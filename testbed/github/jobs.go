// SPDX-License-Identifier: Apache-2.0

package github

import (
	"net/http"
	"slices"
	"strings"

	"github.com/runner-identity/runner-identity/testbed/github/job"
)

// queued is a job with the id of the runner that took it, 0 before.
type queued struct {
	job.Job
	runner int64
}

// AddJob queues a job for the first runner that waits for one and has its labels. Only scope, labels and steps of it count.
func (s *Simulator) AddJob(j job.Job) job.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &queued{Job: job.Job{
		ID: int64(len(s.jobs) + 1), Scope: j.Scope, Labels: slices.Clone(j.Labels), Steps: slices.Clone(j.Steps), Status: job.Queued,
	}}
	s.jobs = append(s.jobs, q)
	s.wake()
	return q.copy()
}

// Job is the job of that id, false if there is none.
func (s *Simulator) Job(id int64) (job.Job, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id < 1 || id > int64(len(s.jobs)) {
		return job.Job{}, false
	}
	return s.jobs[id-1].copy(), true
}

// Jobs are all jobs since the last Reset, the oldest first.
func (s *Simulator) Jobs() []job.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []job.Job{}
	for _, q := range s.jobs {
		all = append(all, q.copy())
	}
	return all
}

// copy is safe to give away: labels and steps never change, results do.
func (q *queued) copy() job.Job {
	j := q.Job
	j.Results = append([]job.Result{}, q.Results...)
	return j
}

// offer is the job of a session's runner: the one that it has, for an answer may have got lost, else the oldest that it may take,
// nil if there is none yet. changed closes when it pays to ask again. The status is 404 if there is no such session.
func (s *Simulator) offer(session string) (j *job.Job, changed <-chan struct{}, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runners[s.sessions[session]]
	if r == nil {
		return nil, nil, http.StatusNotFound
	}
	q := s.jobOf(r.ID)
	if i := slices.IndexFunc(s.jobs, func(q *queued) bool { return q.fits(r) }); q == nil && i >= 0 && !r.Busy && r.Status == Online {
		q = s.jobs[i]
		q.Status, q.Runner, q.runner = job.InProgress, r.Name, r.ID
		r.Busy = true
	}
	if q == nil {
		return nil, s.changed, http.StatusOK
	}
	return new(q.copy()), nil, http.StatusOK
}

// listens puts the runner of a session online as it begins to wait for a job. It is offline when its connection breaks, unless it has
// come back by another or has a job. Runners with a job are not watched.
func (s *Simulator) listens(session string) (broken func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runners[s.sessions[session]]
	if r == nil {
		return func() {}
	}
	r.Status = Online
	r.waits++
	this := r.waits
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.waits == this && !r.Busy {
			r.Status = Offline
		}
	}
}

// jobOf is the job that a runner runs, nil if it is idle.
func (s *Simulator) jobOf(runner int64) *queued {
	i := slices.IndexFunc(s.jobs, func(q *queued) bool { return q.runner == runner && q.Status == job.InProgress })
	if i < 0 {
		return nil
	}
	return s.jobs[i]
}

func (q *queued) fits(r *Runner) bool {
	has := func(label string) bool {
		return slices.ContainsFunc(r.Labels, func(l Label) bool { return strings.EqualFold(l.Name, label) })
	}
	lacks := func(label string) bool { return !has(label) }
	return q.Status == job.Queued && (q.Scope == "" || q.Scope == r.Scope) && !slices.ContainsFunc(q.Labels, lacks)
}

// report takes the result of a step, by its place. A later report of a place replaces what was there and after. It is false if the session
// runs no job or earlier places are missing.
func (s *Simulator) report(session string, place int, result job.Result) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.jobOf(s.sessions[session])
	if q == nil || place < 0 || place > len(q.Results) {
		return false
	}
	q.Results = append(q.Results[:place], result)
	return true
}

// finish ends a session's job, and with it the session and its ephemeral runner. It is false if the session runs no job.
func (s *Simulator) finish(session string, end job.End) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.jobOf(s.sessions[session])
	if q == nil {
		return false
	}
	q.Status, q.Conclusion, q.Problem = job.Completed, end.Conclusion, end.Problem
	s.drop(q.runner)
	return true
}

// abandon ends the job of a runner that went before its time.
func (s *Simulator) abandon(runner int64) {
	if q := s.jobOf(runner); q != nil {
		q.Status, q.Conclusion, q.Problem = job.Completed, job.Cancelled, "the runner went without a word"
	}
}

// wake lets those who wait for a job look again.
func (s *Simulator) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}
