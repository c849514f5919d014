// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/runner-identity/runner-identity/testbed/cluster"
	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/node"
	"github.com/runner-identity/runner-identity/testbed/registry"
)

func TestMain(m *testing.M) { cluster.MainWithNodes(m) }

const (
	toolbox    = "github.com/runner-identity/runner-identity/testbed/image/toolbox"
	pullSecret = "registry"
	pullTime   = 60 * time.Second
)

// A kubelet is a namespace of a real cluster whose tokens the clouds of a world take.
type kubelet struct {
	*world
	t         *testing.T
	cluster   *cluster.Cluster
	node      *node.Node
	kube      kubernetes.Interface
	namespace string
}

func newKubelet(t *testing.T) *kubelet {
	t.Helper()
	n, c := node.Shared(t), cluster.Shared(t)
	kube, err := kubernetes.NewForConfig(c.Config)
	require.NoError(t, err)
	client, err := c.HTTPClient()
	require.NoError(t, err)
	k := &kubelet{t: t, cluster: c, node: n, kube: kube, namespace: c.Namespace(t)}
	k.world = newWorld(t, issuer{c.Issuer, c.JWKSURL, client}, k.namespace, "default")
	require.NoError(t, n.Serve(t.Context(), k.ecr, "*.dkr.ecr.eu-west-1.amazonaws.com"))
	require.NoError(t, n.Serve(t.Context(), k.ar, arHost))
	return k
}

func (k *kubelet) token(audience string) string {
	k.t.Helper()
	out, err := k.cluster.Kubectl(k.t.Context(), "-n", k.namespace, "create", "token", "default", "--audience="+audience)
	require.NoError(k.t, err)
	return strings.TrimSpace(out)
}

// login puts a login into the Secret that the pods of the test name.
func (k *kubelet) login(host string, c authn.AuthConfig) {
	k.t.Helper()
	raw, err := json.Marshal(map[string]any{"auths": map[string]any{host: c}})
	require.NoError(k.t, err)
	_, err = k.kube.CoreV1().Secrets(k.namespace).Create(k.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: pullSecret},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: raw},
	}, metav1.CreateOptions{})
	require.NoError(k.t, err)
}

// run makes a pod that must pull its image.
func (k *kubelet) run(name, image string) {
	k.t.Helper()
	_, err := k.kube.CoreV1().Pods(k.namespace).Create(k.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: pullSecret}},
			Containers:       []corev1.Container{{Name: "runner", Image: image, ImagePullPolicy: corev1.PullAlways}},
		},
	}, metav1.CreateOptions{})
	require.NoError(k.t, err)
}

func (k *kubelet) requireRunning(name string) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		p, err := k.kube.CoreV1().Pods(k.namespace).Get(k.t.Context(), name, metav1.GetOptions{})
		return err == nil && p.Status.Phase == corev1.PodRunning
	}, pullTime, 100*time.Millisecond, "pod %s", name)
}

// refusal is what the pod's events say of the image that could not be pulled.
func (k *kubelet) refusal(name string) (message string) {
	k.t.Helper()
	require.Eventually(k.t, func() bool {
		events, err := k.kube.CoreV1().Events(k.namespace).List(k.t.Context(), metav1.ListOptions{FieldSelector: "reason=Failed,involvedObject.name=" + name})
		if err != nil || len(events.Items) == 0 {
			return false
		}
		message = events.Items[0].Message
		return true
	}, pullTime, 100*time.Millisecond, "pod %s", name)
	return message
}

func TestTheKubeletPullsWithALoginOfTheCloudAndNotWithoutOrAfterIt(t *testing.T) {
	for name, tt := range map[string]struct {
		image, host, audience string
		registry              func(*world) *registry.Registry
		login                 func(*world, *testing.T, string) authn.AuthConfig
		expired               string
	}{
		"from ECR":               {ecrImage, ecrHost, "sts.amazonaws.com", func(w *world) *registry.Registry { return w.ecr }, (*world).ecrLogin, "403 Forbidden"},
		"from Artifact Registry": {arImage, arHost, "https://iam.googleapis.com/" + provider, func(w *world) *registry.Registry { return w.ar }, (*world).arLogin, "401 Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubelet(t)
			img, err := image.Build(t.Context(), toolbox, nil)
			require.NoError(t, err)
			require.NoError(t, tt.registry(k.world).Put(t.Context(), tt.image, img))

			k.run("without", tt.image)
			assert.Contains(t, k.refusal("without"), "failed to pull and unpack image")
			k.login(tt.host, tt.login(k.world, t, k.token(tt.audience)))
			k.run("with", tt.image)
			k.requireRunning("with")
			k.aws.Expire()
			k.gcp.Expire()
			k.run("after", tt.image)
			assert.Contains(t, k.refusal("after"), tt.expired)
		})
	}
}

func TestAnImageThatWasPushedWithALoginIsPulledByTheKubelet(t *testing.T) {
	k := newKubelet(t)
	login := k.ecrLogin(t, k.token("sts.amazonaws.com"))
	img, err := image.Build(t.Context(), toolbox, nil)
	require.NoError(t, err)

	require.NoError(t, image.Push(t.Context(), ecrImage, img, remote.WithTransport(k.node.Transport()), remote.WithAuth(authn.FromConfig(login))))

	k.login(ecrHost, login)
	k.run("runner", ecrImage)
	k.requireRunning("runner")
	last := k.ecr.Calls.History()[len(k.ecr.Calls.History())-1]
	assert.Equal(t, registry.Pull, last.Action)
	assert.Equal(t, "111122223333", last.Principal)
}
