// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// jitLifetime is how long an unused JIT config is trusted. GitHub's are good for an hour.
const jitLifetime = 50 * time.Minute

// A runner is what was observed of one runner: its record, and its pod if there is one.
type runner struct {
	record record
	pod    *pod
	// busyUntil is until when GitHub is not asked again, after it said that the runner runs a job.
	busyUntil time.Time
}

// A record is the durable part of a runner, read from its Secret's metadata.
type record struct {
	name string
	uid  types.UID
	hash string
	// id is GitHub's id; zero: not known to be registered.
	id         int64
	registered time.Time
	// pod is the uid of the pod that was made; empty: none was seen yet.
	pod types.UID
	// leaving is whether the record is deleted but for its finalizer: the runner is to end.
	leaving bool
	target  target
	// finalizer is the index of our finalizer, -1 if there is none.
	finalizer int
	// fresh is whether this pass made the record: GitHub cannot know its name yet.
	fresh bool
}

// A pod is what matters of a runner pod.
type pod struct {
	uid     types.UID
	created time.Time
	outcome outcome
	running bool
	leaving bool
	// cause is why the runner failed, in a few words.
	cause string
}

// same is whether two observations of one pod say the same.
func (p pod) same(as pod) bool {
	p.created, as.created = time.Time{}, time.Time{}
	return p == as
}

// An outcome is how a runner came to its end. It is also the label of the metric.
type outcome string

const (
	undecided outcome = ""
	succeeded outcome = "succeeded"
	failed    outcome = "failed"
	// lost: somebody else deleted the pod.
	lost outcome = "lost"
	// expired: the JIT config was not used in time.
	expired outcome = "expired"
	// retired: scaled down, replaced, or deleted.
	retired outcome = "retired"
)

// end says how the runner came to its end; undecided: it goes on.
func (r runner) end(now time.Time) outcome {
	switch {
	case r.pod != nil && r.pod.outcome != undecided:
		return r.pod.outcome
	case r.record.leaving:
		return retired
	case r.pod != nil && r.pod.leaving, r.pod == nil && r.record.pod != "":
		return lost
	case !r.running() && r.record.id != 0 && !now.Before(r.expires()):
		return expired
	}
	return undecided
}

func (r runner) running() bool { return r.pod != nil && r.pod.running }

func (r runner) expires() time.Time { return r.record.registered.Add(jitLifetime) }

// counts is whether the runner takes one of the places that spec.replicas gives: it has a pod that may run a job, or will have.
func (r runner) counts() bool {
	if r.pod == nil {
		return !r.record.leaving && r.record.pod == ""
	}
	return r.pod.outcome == undecided
}

// incomplete is whether a step of making the runner is missing.
func (r runner) incomplete() bool {
	return r.record.id == 0 || r.pod == nil || r.record.pod != r.pod.uid
}
