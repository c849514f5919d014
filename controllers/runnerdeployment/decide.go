// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"cmp"
	"slices"
	"time"
)

// wanted is what a RunnerDeployment asks for at this moment.
type wanted struct {
	replicas int
	// hash is the hash of the present template and plan. Empty: not known, so no runner is outdated.
	hash string
	// hold is whether no runner may be made or completed now.
	hold bool
	// all is whether every runner is to end.
	all bool
	now time.Time
}

// work is what is to be done, in this order.
type work struct {
	// finish are runners that came to their end, or are marked to end.
	finish []runner
	// retire are runners to be marked now.
	retire []runner
	// resume are runners of which a step is missing.
	resume []runner
	// create is how many runners are missing.
	create int
	// wake is when there is something to do again although nothing changes; zero: never.
	wake time.Time
}

func (w work) none() bool {
	return len(w.finish) == 0 && len(w.retire) == 0 && len(w.resume) == 0 && w.create == 0
}

// decide compares what is wanted with what is there. It is pure; after each step the pass asks again with what came of it.
func decide(w wanted, runners []runner) work {
	var out work
	var live []runner
	for _, r := range runners {
		switch {
		case r.end(w.now) == undecided:
			live = append(live, r)
			out.wakeAt(expiry(r))
		case r.busyUntil.After(w.now):
			out.wakeAt(r.busyUntil)
		default:
			out.finish = append(out.finish, r)
		}
	}
	count := 0
	for _, r := range runners {
		if r.counts() {
			count++
		}
	}
	out.retire = victims(w, live, count)
	// A pod's uid is noted even when nothing may be made: without it, a pod deleted by hand would be made again.
	out.resume = slices.DeleteFunc(slices.Clone(live), func(r runner) bool {
		return !r.incomplete() || named(out.retire, r.record.name) || (w.hold && r.pod == nil)
	})
	if !w.hold && !w.all {
		out.create = max(0, w.replicas-count)
	}
	return out
}

// victims are the runners to retire: all; or those of an older template; or as many as are too many. A runner of an older template
// frees its place by going, so the others are not looked at before it is known which of those could go.
func victims(w wanted, live []runner, count int) []runner {
	if w.all {
		return live
	}
	ordered := slices.SortedFunc(slices.Values(live), w.cheapest)
	old, present := split(ordered, w.outdated)
	made := slices.ContainsFunc(present, func(r runner) bool { return r.pod != nil })
	switch {
	case len(old) > 0 && made:
		return old
	case count > w.replicas:
		return ordered[:min(count-w.replicas, len(ordered))]
	case len(old) > 0 && len(present) == 0 && count == w.replicas:
		// No pod was made of the present template yet. It is given one place: if the API server refuses it, that costs one runner.
		return old[:1]
	}
	return nil
}

func split(runners []runner, is func(runner) bool) (yes, no []runner) {
	for _, r := range runners {
		if is(r) {
			yes = append(yes, r)
		} else {
			no = append(no, r)
		}
	}
	return yes, no
}

func (w wanted) outdated(r runner) bool { return w.hash != "" && r.record.hash != w.hash }

// cheapest orders runners by how little is lost when they go: no pod yet, not running yet, of an older template, newest.
func (w wanted) cheapest(a, b runner) int {
	return cmp.Or(
		cmp.Compare(a.progress(), b.progress()),
		-cmp.Compare(w.rank(a), w.rank(b)),
		b.age().Compare(a.age()),
		cmp.Compare(a.record.name, b.record.name),
	)
}

// rank is 1 for runners of an older template, 0 for those of the present one.
func (w wanted) rank(r runner) int {
	if w.outdated(r) {
		return 1
	}
	return 0
}

func (r runner) progress() int {
	switch {
	case r.pod == nil:
		return 0
	case !r.pod.running:
		return 1
	}
	return 2
}

func (r runner) age() time.Time {
	if r.pod == nil {
		return r.record.registered
	}
	return r.pod.created
}

// expiry is when an unused JIT config must be discarded, zero for a runner that runs.
func expiry(r runner) time.Time {
	if r.running() || r.record.id == 0 {
		return time.Time{}
	}
	return r.expires()
}

func (w *work) wakeAt(t time.Time) { w.wake = sooner(w.wake, t) }

// sooner is the earlier of two times; zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func named(runners []runner, name string) bool {
	return slices.ContainsFunc(runners, func(r runner) bool { return r.record.name == name })
}
