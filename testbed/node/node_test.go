// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/node"
)

const (
	toolboxProgram = "github.com/runner-identity/runner-identity/testbed/image/toolbox"
	toolbox        = "testbed.local/toolbox:1"
	tokenPath      = "/var/run/secrets/runner-identity.dev/token"
)

// A bed is a namespace of a cluster with a node that has the toolbox.
type bed struct {
	*cluster.Cluster
	node      *node.Node
	namespace string
}

func newBed(t *testing.T) bed {
	t.Helper()
	n := node.Shared(t)
	c := cluster.Shared(t)
	img, err := image.Build(t.Context(), toolboxProgram, nil)
	require.NoError(t, err)
	require.NoError(t, n.Import(t.Context(), toolbox, img))
	return bed{c, n, c.Namespace(t)}
}

// pod makes a pod that waits, with the change made to it, and returns when it runs.
func (b bed) pod(t *testing.T, name string, change ...func(*corev1.Pod)) {
	t.Helper()
	p := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: b.namespace},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "toolbox", Image: toolbox}}},
	}
	for _, f := range change {
		f(p)
	}
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	_, err = b.KubectlInput(t.Context(), string(raw), "create", "-f", "-")
	require.NoError(t, err)
	_, err = b.Kubectl(t.Context(), "-n", b.namespace, "wait", "pod/"+name, "--for=jsonpath={.status.phase}=Running", "--timeout=60s")
	require.NoError(t, err)
}

func (b bed) exec(t *testing.T, pod string, command ...string) string {
	t.Helper()
	out, err := b.Kubectl(t.Context(), append([]string{"-n", b.namespace, "exec", pod, "--", "/toolbox"}, command...)...)
	require.NoError(t, err)
	return out
}

func TestAPodRunsWithItsProjectedToken(t *testing.T) {
	b := newBed(t)

	b.pod(t, "runner", func(p *corev1.Pod) {
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "identity", MountPath: "/var/run/secrets/runner-identity.dev"}}
		p.Spec.Volumes = []corev1.Volume{{Name: "identity", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Audience: "sts.amazonaws.com", ExpirationSeconds: new(int64(3600)), Path: "token",
			}}},
		}}}}
	})

	got := verified(t, b.Cluster, b.exec(t, "runner", "cat", tokenPath))
	assert.Equal(t, "system:serviceaccount:"+b.namespace+":default", got.Subject)
	assert.Equal(t, []string{"sts.amazonaws.com"}, got.Audience)
	assert.Equal(t, "runner", got.Kubernetes.Pod.Name)
}

func TestLogsOfAPodAreReadThroughTheAPIServer(t *testing.T) {
	b := newBed(t)
	b.pod(t, "talker", func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "say", Image: toolbox, Args: []string{"id"}}}
	})

	out, err := b.Kubectl(t.Context(), "-n", b.namespace, "logs", "talker", "-c", "say")

	require.NoError(t, err)
	assert.Equal(t, "0 0 [0]\n", out)
}

func TestAPodReachesWhatIsServedUnderRealNames(t *testing.T) {
	b := newBed(t)
	const host = "sts.eu-west-1.amazonaws.com"
	require.NoError(t, b.node.Serve(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "this is ", r.Host)
	}), host, "*.dkr.ecr.eu-west-1.amazonaws.com"))
	listener, err := b.node.Listen(t.Context(), "169.254.169.254:80")
	require.NoError(t, err)
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metadata") }))
	}()
	b.trusting(t, "client")

	assert.Equal(t, "this is "+host, b.exec(t, "client", "get", "https://"+host))
	assert.Equal(t, "this is 111122223333.dkr.ecr.eu-west-1.amazonaws.com", b.exec(t, "client", "get", "https://111122223333.dkr.ecr.eu-west-1.amazonaws.com"))
	assert.Equal(t, "metadata", b.exec(t, "client", "get", "http://169.254.169.254"))
	_, err = b.Kubectl(t.Context(), "-n", b.namespace, "exec", "client", "--", "/toolbox", "get", "https://elsewhere.example.com")
	assert.ErrorContains(t, err, "no such host", "nothing leads out of the node")
}

// trusting makes a pod that trusts the authority of the hosts that the node serves.
func (b bed) trusting(t *testing.T, name string) {
	t.Helper()
	_, err := b.Kubectl(t.Context(), "-n", b.namespace, "create", "configmap", "authority", "--from-literal=ca.crt="+string(b.node.CA))
	require.NoError(t, err)
	b.pod(t, name, func(p *corev1.Pod) {
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "authority", MountPath: "/authority"}}
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "SSL_CERT_FILE", Value: "/authority/ca.crt"}}
		p.Spec.Volumes = []corev1.Volume{{Name: "authority", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "authority"}},
		}}}
	})
}

func TestAPodReachesTheAPIServerByItsService(t *testing.T) {
	b := newBed(t)
	b.pod(t, "client", func(p *corev1.Pod) {
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "SSL_CERT_FILE", Value: "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"}}
	})

	assert.Contains(t, b.exec(t, "client", "get", "https://kubernetes.default.svc/version"), "gitVersion")
	assert.Contains(t, b.exec(t, "client", "get", "https://10.0.0.1/version"), "gitVersion")
}

func TestADeletedPodIsGoneFromTheNodeAndTheAPI(t *testing.T) {
	b := newBed(t)
	b.pod(t, "short")

	_, err := b.Kubectl(t.Context(), "-n", b.namespace, "delete", "pod", "short", "--timeout=60s")

	require.NoError(t, err)
}

func TestAStoppedNodeIsNotReachedAnyMore(t *testing.T) {
	node.Shared(t)
	c, n, err := alone(t.Context(), "")
	require.NoError(t, err)
	require.NoError(t, n.Serve(t.Context(), http.NotFoundHandler(), "sts.amazonaws.com"))
	client := http.Client{Transport: n.Transport()}
	resp, err := client.Get("https://sts.amazonaws.com")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())

	require.NoError(t, n.Stop())

	_, err = c.Kubectl(t.Context(), "logs", "pod")
	require.Error(t, err)
	client.CloseIdleConnections()
	_, err = client.Get("https://sts.amazonaws.com")
	require.ErrorIs(t, err, net.ErrClosed)
	require.NoError(t, c.Stop())
}
