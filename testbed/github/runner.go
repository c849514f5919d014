// SPDX-License-Identifier: Apache-2.0

package github

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A Runner is a registered runner in GitHub's own JSON.
type Runner struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	OS        string  `json:"os"`
	Status    string  `json:"status"` // online, offline
	Busy      bool    `json:"busy"`
	Ephemeral bool    `json:"ephemeral"`
	Labels    []Label `json:"labels"`
	GroupID   int64   `json:"runner_group_id"`
	// Scope is where it is registered. GitHub does not show it; the simulator's own pages do.
	Scope string `json:"-"`

	config string // its JIT configuration
	waits  int    // how often it has waited for a job
	taken  bool   // whether the configuration was traded for a session
}

// A Label is a label of a runner.
type Label struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

// A Group is a runner group.
type Group struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Default bool   `json:"default"`
}

// States that a runner can be put in by name.
const (
	Online  = "online"
	Offline = "offline"
	Busy    = "busy"
	Done    = "done" // its one job is over: GitHub forgets an ephemeral runner then
)

// Runners are all registered runners by id.
func (s *Simulator) Runners() []Runner {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Runner
	for _, id := range slices.Sorted(maps.Keys(s.runners)) {
		r := *s.runners[id]
		r.Labels = slices.Clone(r.Labels)
		all = append(all, r)
	}
	return all
}

// Set puts the runner of that name in a state. It is false if there is no such runner or state.
func (s *Simulator) Set(name, state string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.named(func(r *Runner) bool { return strings.EqualFold(r.Name, name) })
	if r == nil {
		return false
	}
	switch state {
	case Online:
		r.Status, r.Busy = Online, false
	case Offline:
		r.Status = Offline // a job goes on: GitHub only lost sight of the runner
	case Busy:
		r.Status, r.Busy = Online, true
	case Done:
		s.drop(r.ID)
	default:
		return false
	}
	s.wake()
	return true
}

// named is the oldest runner that matches, nil if none does.
func (s *Simulator) named(match func(*Runner) bool) *Runner {
	var found *Runner
	for _, r := range s.runners {
		if match(r) && (found == nil || r.ID < found.ID) {
			found = r
		}
	}
	return found
}

// drop forgets a runner and its session. A job that it runs is over.
func (s *Simulator) drop(id int64) {
	s.abandon(id)
	delete(s.runners, id)
	maps.DeleteFunc(s.sessions, func(_ string, of int64) bool { return of == id })
	s.wake()
}

// labelsOf gives GitHub's type to labels: those that describe the machine are read-only.
func labelsOf(names []string) []Label {
	machine := []string{"self-hosted", "linux", "windows", "macos", "x64", "arm", "arm64"}
	var labels []Label
	for i, name := range names {
		kind := "custom"
		if slices.Contains(machine, strings.ToLower(name)) {
			kind = "read-only"
		}
		labels = append(labels, Label{ID: int64(i + 1), Name: name, Type: kind})
	}
	return labels
}

func osOf(labels []Label) string {
	for _, os := range []string{"linux", "windows", "macos"} {
		if slices.ContainsFunc(labels, func(l Label) bool { return strings.EqualFold(l.Name, os) }) {
			return os
		}
	}
	return "unknown" // as GitHub has it until a runner connects
}

func byID(a, b *Runner) int { return cmp.Compare(a.ID, b.ID) }
