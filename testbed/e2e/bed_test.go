// SPDX-License-Identifier: Apache-2.0

// Package e2e_test measures on a real node what pods are given. Without a node its tests are skipped.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/runner-identity/runner-identity/podspec"
	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/node"
)

const (
	probeProgram = "github.com/runner-identity/runner-identity/testbed/e2e/probe"
	account      = "website-runner"
	// podTimeout is for a pod among twenty on a busy machine.
	podTimeout = 3 * time.Minute
	pollEvery  = 200 * time.Millisecond
)

// A bed is a namespace of a cluster with a node that has the probe.
type bed struct {
	*cluster.Cluster
	kube      kubernetes.Interface
	namespace string
}

// newBed has the account that runner pods run as, and the probe's images: one for each user that an image can say.
func newBed(t *testing.T, users ...string) bed {
	t.Helper()
	n := node.Shared(t)
	c := cluster.Shared(t)
	kube, err := kubernetes.NewForConfig(c.Config)
	require.NoError(t, err)
	b := bed{c, kube, c.Namespace(t)}
	probe, err := image.Build(t.Context(), probeProgram, nil)
	require.NoError(t, err)
	for _, user := range users {
		require.NoError(t, n.Import(t.Context(), probeImage(user), runAs(t, probe, user)))
	}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}
	_, err = kube.CoreV1().ServiceAccounts(b.namespace).Create(t.Context(), sa, metav1.CreateOptions{})
	require.NoError(t, err)
	return b
}

// probeImage is the probe that runs as an image's user.
func probeImage(user string) string { return "testbed.local/probe:user-" + user }

func runAs(t *testing.T, img v1.Image, user string) v1.Image {
	t.Helper()
	file, err := img.ConfigFile()
	require.NoError(t, err)
	config := *file.Config.DeepCopy()
	config.User = user
	img, err = mutate.Config(img, config)
	require.NoError(t, err)
	return img
}

// create makes a runner pod and the Secret that it cannot start without.
func (b bed) create(t *testing.T, pod podspec.Object) {
	t.Helper()
	raw, err := json.Marshal(pod)
	require.NoError(t, err)
	var p corev1.Pod
	require.NoError(t, json.Unmarshal(raw, &p))
	jit := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: p.Name}, StringData: map[string]string{podspec.SecretKeyJITConfig: "unused"}}
	_, err = b.kube.CoreV1().Secrets(b.namespace).Create(t.Context(), jit, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = b.kube.CoreV1().Pods(b.namespace).Create(t.Context(), &p, metav1.CreateOptions{})
	require.NoError(t, err)
}

// await waits for a pod's phase, and says what the pod hangs on if that does not come.
func (b bed) await(t *testing.T, pod string, phase corev1.PodPhase) {
	t.Helper()
	var last corev1.PodStatus
	err := wait.PollUntilContextTimeout(t.Context(), pollEvery, podTimeout, true, func(ctx context.Context) (bool, error) {
		got, err := b.kube.CoreV1().Pods(b.namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = got.Status
		if got.Status.Phase == corev1.PodFailed && phase != corev1.PodFailed {
			return false, errors.New("it failed")
		}
		return got.Status.Phase == phase, nil
	})
	require.NoError(t, err, "pod %s: is not %s: %+v", pod, phase, last)
}

// printed are the reports that a container printed.
func printed[T any](t *testing.T, b bed, pod, container string) (reports []T) {
	t.Helper()
	raw, err := b.kube.CoreV1().Pods(b.namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container}).DoRaw(t.Context())
	require.NoError(t, err)
	for line := range bytes.Lines(raw) {
		var r T
		require.NoError(t, json.Unmarshal(line, &r), "%s of %s printed: %s", container, pod, raw)
		reports = append(reports, r)
	}
	return reports
}
