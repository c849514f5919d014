// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestKilledAtAnyCallItConvergesAndLeaksNothing kills the controller at each write it makes to the API server and to GitHub, once
// before the write and once with its answer lost, and starts a new one.
func TestKilledAtAnyCallItConvergesAndLeaksNothing(t *testing.T) {
	cases := map[string]struct {
		// before brings the world to where the calls begin.
		before func(w *world)
		// act is what the controller answers with the calls.
		act  func(w *world)
		want int
	}{
		"while it makes runners": {
			before: func(*world) {},
			act:    func(w *world) { w.deployment("ci", 2) },
			want:   2,
		},
		"while it scales down": {
			before: func(w *world) { w.deployment("ci", 3); w.settle("ci") },
			act:    func(w *world) { w.scale("ci", 1) },
			want:   1,
		},
		"while it replaces a runner that failed": {
			before: func(w *world) { w.deployment("ci", 1); w.settle("ci") },
			act:    func(w *world) { w.state(w.podNames("ci")[0], corev1.PodFailed) },
			want:   1,
		},
		"while it deletes all": {
			before: func(w *world) { w.deployment("ci", 2); w.settle("ci") },
			act:    func(w *world) { require.NoError(w, w.user.Delete(w.Context(), w.read("ci"))) },
			want:   0,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for call := 1; ; call++ {
				died := false
				for _, lose := range []bool{false, true} {
					t.Run(fmt.Sprintf("call %d, answer lost %t", call, lose), func(t *testing.T) {
						w := newWorld(t)
						c.before(w)
						w.line.mend(call, lose)
						c.act(w)
						died = w.dies("ci")
						w.line.mend(0, false)
						w.restart()
						for range 4 {
							w.settle("ci")
							w.step(time.Minute)
						}
						w.consistent("ci", c.want)
						assert.Equal(t, c.want == 0, w.isGone("ci"))
					})
				}
				if !died {
					require.Greater(t, call, 3, "there were calls to be killed at")
					return
				}
			}
		})
	}
}

// dies reconciles until the line is cut, or all is done.
func (w *world) dies(name string) bool {
	for range 10 {
		_, err := w.pass(name)
		if w.line.isDead() {
			return true
		}
		require.NoError(w, err)
	}
	return false
}
