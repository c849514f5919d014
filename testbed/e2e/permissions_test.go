// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/internal/golden"
	"github.com/runner-identity/runner-identity/testbed/e2e/probe/report"
)

const fsGroup = 2000

// permission is what the kubelet makes of an identity's files in a pod: mode and owner, and the users that can read them or not.
type permission struct {
	pod   string
	shape shape
	// token without and with an fsGroup.
	token, groupToken string
	// everybody is all users of the pod. They can read the configuration file and write to gcloud's directory.
	everybody string
}

// The rule behind it: a token is 0600 for the user if all containers, init containers among them, have the same runAsUser, 0640
// for the group with an fsGroup, and else 0644. An image's USER is not known to the kubelet and counts for nothing. (Before
// Kubernetes 1.19 a token was always 0600 root: amazon-eks-pod-identity-webhook#8.)
func permissions() []permission {
	return []permission{
		{
			pod:   "runner of user 1001 by `securityContext`",
			shape: shape{pod: new(int64(1001)), members: []member{{name: "runner", image: "0"}}},
			token: "0600 1001:0: 1001", groupToken: "0640 1001:2000: 1001", everybody: "1001",
		},
		{
			pod: "runner of user 1001 by its image, as GitHub's own", shape: alone("1001"),
			token: "0644 0:0: 1001", groupToken: "0640 0:2000: 1001", everybody: "1001",
		},
		{
			pod: "runner of user 8001 by its image", shape: alone("8001"),
			token: "0644 0:0: 8001", groupToken: "0640 0:2000: 8001", everybody: "8001",
		},
		{
			pod:   "runner of root by `securityContext`",
			shape: shape{pod: new(int64(0)), members: []member{{name: "runner", image: "1001"}}},
			token: "0600 0:0: 0, not 4242", groupToken: "0640 0:2000: 0, not 4242", everybody: "0, 4242",
		},
		{
			pod: "runner of root by its image", shape: alone("0"),
			token: "0644 0:0: 0, 4242", groupToken: "0640 0:2000: 0, not 4242", everybody: "0, 4242",
		},
		{
			pod:   "runner and native sidecar of user 1001 by the pod's `securityContext`",
			shape: shape{pod: new(int64(1001)), members: []member{{name: "native", image: "0"}, {name: "runner", image: "0"}}},
			token: "0600 1001:0: 1001", groupToken: "0640 1001:2000: 1001", everybody: "1001",
		},
		{
			pod:   "runner of user 1001 by `securityContext`, native sidecar of root by its image",
			shape: shape{members: []member{{name: "native", image: "0"}, {name: "runner", image: "0", user: new(int64(1001))}}},
			token: "0644 0:0: 0, 1001, 4242", groupToken: "0640 0:2000: 0, 1001, not 4242", everybody: "0, 1001, 4242",
		},
		{
			pod: "runner of user 1001, native sidecar of root, sidecar of user 65534, each by `securityContext`",
			shape: shape{members: []member{
				{name: "native", image: "0", user: new(int64(0))}, {name: "runner", image: "0", user: new(int64(1001))},
				{name: "sidecar", image: "0", user: new(int64(65534))},
			}},
			token: "0644 0:0: 0, 1001, 4242, 65534", groupToken: "0640 0:2000: 0, 1001, 65534, not 4242", everybody: "0, 1001, 4242, 65534",
		},
	}
}

// want are the cells of a pod's row.
func (p permission) want(group *int64) row {
	if group == nil {
		return row{p.pod, "none", p.token, "0644 0:0: " + p.everybody, "0777 0:0: " + p.everybody}
	}
	return row{p.pod, "2000", p.groupToken, "0644 0:2000: " + p.everybody, "2777 0:2000: " + p.everybody}
}

func TestWhoCanReadAndWriteTheFilesOfARunnerPod(t *testing.T) {
	t.Parallel()
	b := newBed(t, "0", "1001", "8001")
	clouds := []cloud{newAWS(t, awsChain), newGCP(t)}
	groups := []*int64{nil, new(int64(fsGroup))}
	name := func(i, j int, c cloud) string { return fmt.Sprintf("row-%d-%d-%s", i, j, c.name) }
	for i, p := range permissions() { // all at once: that is quicker than one after the other
		for j, group := range groups {
			for _, c := range clouds {
				p.shape.run(t, b, c, name(i, j, c), group)
			}
		}
	}

	var measured []row
	for i, p := range permissions() {
		for j, group := range groups {
			got := row{pod: p.pod, group: p.want(group).group}
			t.Run(p.pod+", fsGroup "+got.group, func(t *testing.T) {
				for _, c := range clouds {
					got.measure(t, c, b.looked(t, name(i, j, c), p.shape))
				}
				assert.Equal(t, p.want(group), got)
			})
			measured = append(measured, got)
		}
	}
	if t.Failed() {
		return // half a table is nothing to compare, nor to write
	}
	golden.CheckSection(t, "../../docs/security.md", "permissions", table(measured))
}

// looked is what all users of a pod saw, once it is done.
func (b bed) looked(t *testing.T, pod string, s shape) (looks []report.Look) {
	t.Helper()
	b.await(t, pod, corev1.PodSucceeded)
	for _, m := range s.members {
		looks = append(looks, printed[report.Look](t, b, pod, m.name)...)
	}
	return looks
}
