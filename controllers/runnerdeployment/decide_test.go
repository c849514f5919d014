// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A decision is what is observed, and what is to be done about it.
type decision struct {
	name    string
	want    wanted
	runners []runner

	finish, retire, resume []string
	create                 int
	wake                   time.Duration
}

func decisions(now time.Time) []decision {
	// one is a runner with a running pod of the present template; options make it another.
	one := func(name string, options ...func(*runner)) runner {
		r := runner{
			record: record{name: name, hash: "new", id: 1, registered: now, pod: "uid"},
			pod:    &pod{uid: "uid", running: true, created: now.Add(-time.Minute)},
		}
		for _, o := range options {
			o(&r)
		}
		return r
	}
	podless := func(r *runner) { r.pod, r.record.pod = nil, "" }
	pending := func(r *runner) { r.pod.running = false }
	young := func(r *runner) { r.pod.created = now }
	old := func(r *runner) { r.record.hash = "old" }
	leaving := func(r *runner) { r.record.leaving = true }
	busy := func(r *runner) { r.busyUntil = now.Add(30 * time.Second) }
	stale := func(r *runner) { r.record.registered = now.Add(-51 * time.Minute) }
	ended := func(how outcome) func(*runner) {
		return func(r *runner) { r.pod.outcome, r.pod.running = how, false }
	}
	wants := func(replicas int) wanted { return wanted{replicas: replicas, hash: "new", now: now} }
	held := wanted{replicas: 3, hash: "new", now: now, hold: true}
	return []decision{
		{name: "all is well", want: wants(1), runners: []runner{one("a")}},
		{name: "runners are missing", want: wants(3), runners: []runner{one("a")}, create: 2},
		{name: "nothing is made while creation is held", want: held, runners: []runner{one("a")}},
		{name: "runners that ended make room", want: wants(2), runners: []runner{one("a", ended(succeeded)), one("b", ended(failed))}, finish: []string{"a", "b"}, create: 2},
		{
			name: "of too many, those without a pod go first, then those that wait, then the newest", want: wants(1),
			runners: []runner{one("older"), one("young", young), one("pending", pending), one("podless", podless)},
			retire:  []string{"podless", "pending", "young"}, wake: jitLifetime,
		},
		{name: "an old one frees its place before others are looked at", want: wants(1), runners: []runner{one("new", pending), one("old", old)}, retire: []string{"old"}, wake: jitLifetime},
		{name: "a template that no pod was made of yet is given one place", want: wants(2), runners: []runner{one("a", old), one("b", old, pending)}, retire: []string{"b"}, wake: jitLifetime},
		{name: "and no second one", want: wants(2), runners: []runner{one("a", old), one("b", podless)}, resume: []string{"b"}, wake: jitLifetime},
		{name: "too many are too many, although no pod was made of the new template", want: wants(1), runners: []runner{one("a", old), one("b", old, young), one("c", podless)}, retire: []string{"c", "b"}, wake: jitLifetime},
		{name: "nor while its runner is missing", want: wants(2), runners: []runner{one("a", old)}, create: 1},
		{name: "old ones stay while the new template is not known", want: wanted{replicas: 1, now: now, hold: true}, runners: []runner{one("old", old)}},
		{name: "a busy one that is to end takes its place", want: wants(1), runners: []runner{one("a", old, leaving, busy)}, wake: 30 * time.Second},
		{name: "a busy one is asked again in time", want: wants(1), runners: []runner{one("a", leaving)}, finish: []string{"a"}},
		{name: "a marked one without a pod makes room", want: wants(1), runners: []runner{one("a", podless, leaving)}, finish: []string{"a"}, create: 1},
		{name: "a pod that vanished makes room", want: wants(1), runners: []runner{one("a", func(r *runner) { r.pod = nil })}, finish: []string{"a"}, create: 1},
		{name: "a step that is missing is done", want: wants(1), runners: []runner{one("a", podless)}, resume: []string{"a"}, wake: jitLifetime},
		{name: "no pod is made while creation is held", want: held, runners: []runner{one("a", podless)}, wake: jitLifetime},
		{name: "a pod's uid is noted even then", want: held, runners: []runner{one("a", func(r *runner) { r.record.pod = "" })}, resume: []string{"a"}},
		{name: "an unused JIT config goes before it expires", want: wants(1), runners: []runner{one("a", pending, stale)}, finish: []string{"a"}, create: 0},
		{name: "a used JIT config has no age", want: wants(1), runners: []runner{one("a", stale)}},
		{name: "all go with the deployment", want: wanted{replicas: 2, all: true, now: now}, runners: []runner{one("a"), one("b", old)}, retire: []string{"a", "b"}},
	}
}

func TestDecide(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range decisions(now) {
		t.Run(c.name, func(t *testing.T) {
			got := decide(c.want, c.runners)
			assert.Equal(t, c.finish, names(got.finish), "finish")
			assert.Equal(t, c.retire, names(got.retire), "retire")
			assert.Equal(t, c.resume, names(got.resume), "resume")
			assert.Equal(t, c.create, got.create, "create")
			if c.wake == 0 {
				assert.Zero(t, got.wake)
			} else {
				assert.Equal(t, now.Add(c.wake), got.wake)
			}
		})
	}
}

func names(runners []runner) []string {
	var all []string
	for _, r := range runners {
		all = append(all, r.record.name)
	}
	return all
}
