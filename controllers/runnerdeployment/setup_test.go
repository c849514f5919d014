// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestOnlyWhatMattersOfAPodWakesTheController(t *testing.T) {
	cases := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"labels and annotations": {change: func(p *corev1.Pod) {
			p.Labels, p.Annotations = map[string]string{"mesh.test/revision": "2"}, map[string]string{"mesh.test/at": "1"}
		}},
		"finalizers":           {change: func(p *corev1.Pod) { p.Finalizers = []string{"mesh.test/hold"} }},
		"an image":             {change: func(p *corev1.Pod) { p.Spec.Containers[0].Image = "patched.test/runner:2" }},
		"an injected variable": {change: func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "AWS_ROLE_ARN"}} }},
		"a pod condition":      {change: func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady}} }},
		"a phase":              {change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, want: true},
		"a deletion":           {change: func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(time.Unix(1, 0))) }, want: true},
		"the runner's exit": {change: func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "runner", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}},
			}}
		}, want: true},
		"the exit of a sidecar": {change: func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "proxy", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}},
			}}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "ci-abcde", UID: "1"},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "runner"}}},
			}
			now := before.DeepCopy()
			c.change(now)
			assert.Equal(t, c.want, podEvents().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: now}))
		})
	}
}
