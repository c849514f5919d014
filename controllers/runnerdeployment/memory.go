// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

const (
	busyFirst, busyMost       = 30 * time.Second, 10 * time.Minute
	failureFirst, failureMost = 5 * time.Second, 5 * time.Minute
	// retryRefused is when a pod that the API server refused is tried again: a quota may have room by then.
	retryRefused = 30 * time.Second
)

// memory is what one process knows of a deployment. All of it can be lost: it spares calls, or stands in status too.
type memory struct {
	// mu is held during a pass. The work queue never runs two passes of one deployment, but nothing would tell if it did.
	mu sync.Mutex
	// uid is the deployment's: one that was deleted and made again starts anew.
	uid types.UID
	// status is what was written last. The cache may still have an older one, which would hide a change, or undo a back-off.
	status *v1alpha1.RunnerDeploymentStatus
	// busy is when each busy runner is asked for again.
	busy map[types.UID]busy
	// failures and retryAt are the back-off, as in status.
	failures int32
	retryAt  time.Time
	// refused is why the API server did not take a pod of the template refusedHash.
	refused     *trouble
	refusedHash string
	// counted is what the gauge has of this deployment.
	counted map[string]int
}

// busy is when a runner that runs a job is asked for again, and after how long once more.
type busy struct {
	until time.Time
	step  time.Duration
	// alive is whether its pod was, when GitHub was asked.
	alive bool
}

func (c *Controller) memory(key types.NamespacedName) *memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memories[key] == nil {
		c.memories[key] = &memory{busy: map[types.UID]busy{}, counted: map[string]int{}}
	}
	return c.memories[key]
}

// forget drops the memory of a deployment of which nothing is left.
func (c *Controller) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.memories[key]; m != nil {
		c.Metrics.count(m, nil)
		delete(c.memories, key)
	}
}

// load takes the status over at the process's first pass, and gives what was written last at later ones.
func (m *memory) load(uid types.UID, status *v1alpha1.RunnerDeploymentStatus) {
	if m.uid == uid && m.status != nil {
		*status = *m.status.DeepCopy()
		return
	}
	m.uid, m.status, m.refused = uid, nil, nil
	m.failures, m.retryAt = status.Failures, time.Time{}
	if status.RetryAt != nil {
		m.retryAt = status.RetryAt.Time
	}
}

// ran notes that a runner runs a job, and says when it is asked for again: a runner ends with its job, and that is an event, so
// asking is only for those that do not.
func (m *memory) ran(r runner, now time.Time) time.Time {
	step := min(max(busyFirst, 2*m.busy[r.record.uid].step), busyMost)
	m.busy[r.record.uid] = busy{until: now.Add(step), step: step, alive: r.counts()}
	return m.busy[r.record.uid].until
}

// busyUntil is when GitHub is asked for a runner again. What it said while the pod was alive does not hold when that has ended.
func (m *memory) busyUntil(r runner) time.Time {
	known := m.busy[r.record.uid]
	if known.alive && !r.counts() {
		return time.Time{}
	}
	return known.until
}

// failed lengthens the back-off. Runners that fail while it runs were made before it began: they say nothing new.
func (m *memory) failed(now time.Time) {
	if m.retryAt.After(now) {
		return
	}
	// Whole seconds, as status has them.
	m.retryAt = now.Add(min(failureFirst<<min(m.failures, 16), failureMost)).Truncate(time.Second).Add(time.Second)
	m.failures++
}

// ended ends the back-off: the template is proven to work.
func (m *memory) ended() { m.failures, m.retryAt = 0, time.Time{} }

// refusal is why the API server takes no pods of the template for now, nil if it may.
func (m *memory) refusal(hash string, now time.Time) *trouble {
	if m.refused == nil || m.refusedHash != hash || !m.refused.until.After(now) {
		return nil
	}
	return m.refused
}

// tell writes the back-off into a status.
func (m *memory) tell(status *v1alpha1.RunnerDeploymentStatus) {
	status.Failures, status.RetryAt = m.failures, nil
	if !m.retryAt.IsZero() {
		status.RetryAt = new(metav1.NewTime(m.retryAt))
	}
}
