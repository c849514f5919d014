// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"cmp"
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

// stranger is a user who is in none of a pod's groups: what sudo makes, or a container inside a container.
const stranger = 4242

// A member is a container of a pod, by what decides its user.
type member struct {
	name  string // runner, native for a native sidecar, or that of a sidecar
	image string // the image's USER
	user  *int64 // of its securityContext
}

// A shape is a pod by the users of its containers. Its runner is called so.
type shape struct {
	pod     *int64 // user of the pod's securityContext
	members []member
}

// alone is a runner pod without sidecars.
func alone(image string) shape {
	return shape{members: []member{{name: podspec.RunnerContainer, image: image}}}
}

// spec is the runner template of a shape.
func (s shape) spec(fsGroup *int64, paths []string) v1alpha1.RunnerSpec {
	spec := v1alpha1.RunnerSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: s.pod, FSGroup: fsGroup}}
	for _, m := range s.members {
		switch m.name {
		case podspec.RunnerContainer:
			spec.Containers = append(spec.Containers, s.looking(m, paths))
		case "native":
			c := s.looking(m, paths, "-wait")
			c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
			spec.InitContainers = append(spec.InitContainers, c)
		default:
			spec.SidecarContainers = append(spec.SidecarContainers, s.looking(m, paths))
		}
	}
	return spec
}

// sidecars are the containers that only have an identity's files if somebody mounts them there.
func (s shape) sidecars() (names []string) {
	for _, m := range s.members {
		if m.name != podspec.RunnerContainer {
			names = append(names, m.name)
		}
	}
	return names
}

// looking is the container of a member. Root looks with the eyes of a stranger, too.
func (s shape) looking(m member, paths []string, flags ...string) corev1.Container {
	if s.user(m) == "0" {
		flags = append(flags, fmt.Sprintf("-as=%d", stranger))
	}
	c := probing(m.name, m.image, append(append([]string{"look"}, flags...), paths...)...)
	if m.user != nil {
		c.SecurityContext = &corev1.SecurityContext{RunAsUser: m.user}
	}
	return c
}

// user is who a member runs as: its own word, else the pod's, else the image's.
func (s shape) user(m member) string {
	if user := cmp.Or(m.user, s.pod); user != nil {
		return strconv.FormatInt(*user, 10)
	}
	return m.image
}

// run has the probe look in a pod of this shape. It does not wait.
func (s shape) run(t *testing.T, b bed, c cloud, name string, fsGroup *int64) {
	t.Helper()
	pod := c.runnerPod(t, b, name, s.spec(fsGroup, c.paths()), s.sidecars()...)
	// Who can read what is not a matter of the restart policy, but of forty containers that runc starts at once it may fail to
	// start one ("unable to apply cgroup configuration").
	pod["spec"].(podspec.Object)["restartPolicy"] = "OnFailure"
	b.create(t, pod)
}
