// SPDX-License-Identifier: Apache-2.0

package namespacedefaults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

type providerSpec = v1alpha1.IdentityProviderSpec

// annotated is a mapping that annotates accounts for AWS, as GKE's are annotated for Google, of namespaces labelled optedIn=<the
// test's namespace a>: those of other tests have other values.
func (w *world) annotated(name, roleName string) v1alpha1.NamespaceDefault {
	return v1alpha1.NamespaceDefault{
		Name:     name,
		Selector: metav1.LabelSelector{MatchLabels: map[string]string{optedIn: w.a}},
		Identity: v1alpha1.NamespaceIdentity{Settings: map[string]string{"roleARN": role(roleName + "${namespace}"), "binding": "Annotate"}},
	}
}

func (w *world) optIn(t *testing.T, namespace string) {
	t.Helper()
	w.label(t, namespace, optedIn, w.a)
}
func (w *world) optOut(t *testing.T, namespace string) {
	t.Helper()
	w.label(t, namespace, optedIn, "")
}

// newProvider makes an IdentityProvider for the simulated AWS; its name begins with that of namespace a.
func (w *world) newProvider(t *testing.T, suffix string, mappings ...v1alpha1.NamespaceDefault) string {
	t.Helper()
	return w.create(t, w.a+suffix, providerSpec{
		Plugin: "aws", NamespaceDefaults: mappings, AWS: &v1alpha1.AWSDefaults{
			AWSIdentity: v1alpha1.AWSIdentity{Region: region}, Endpoints: v1alpha1.AWSEndpoints{STS: w.url, ECR: w.url, ECRPublic: w.url},
		},
	})
}

func (w *world) create(t *testing.T, name string, spec providerSpec) string {
	t.Helper()
	p := &v1alpha1.IdentityProvider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	require.NoError(t, w.Create(t.Context(), p))
	t.Cleanup(func() { _ = w.Delete(cleanup(t), p) })
	return name
}

func (w *world) provider(t *testing.T, name string) *v1alpha1.IdentityProvider {
	t.Helper()
	p := &v1alpha1.IdentityProvider{}
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: name}, p))
	return p
}

// change changes the spec of an IdentityProvider.
func (w *world) change(t *testing.T, name string, f func(*providerSpec)) {
	t.Helper()
	p := w.provider(t, name)
	before := p.DeepCopy()
	f(&p.Spec)
	require.NoError(t, w.Patch(t.Context(), p, client.MergeFrom(before)))
}

// told waits until a condition of an IdentityProvider, for its present spec, contains all parts. It is "True Reason: message".
func (w *world) told(t *testing.T, name, kind string, parts ...string) string {
	t.Helper()
	var got string
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		p := &v1alpha1.IdentityProvider{}
		require.NoError(t, w.Get(context.Background(), client.ObjectKey{Name: name}, p)) //nolint:usetesting // CollectT has no context
		c := meta.FindStatusCondition(p.Status.Conditions, kind)
		require.NotNil(t, c)
		assert.Equal(t, p.Generation, c.ObservedGeneration)
		assert.Equal(t, p.Generation, p.Status.ObservedGeneration)
		got = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		for _, part := range parts {
			assert.Contains(t, got, part)
		}
	}, soon, often)
	return got
}

// annotated waits until an account has a value of an annotation. Empty: until it has none.
func (w *world) eventually(t *testing.T, namespace, account, key, want string) {
	t.Helper()
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		sa := &corev1.ServiceAccount{}
		require.NoError(t, w.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: account}, sa)) //nolint:usetesting // CollectT has no context
		assert.Equal(t, want, sa.Annotations[key])
	}, soon, often)
}

func (w *world) account(t *testing.T, namespace, name string) *corev1.ServiceAccount {
	t.Helper()
	sa := &corev1.ServiceAccount{}
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, sa))
	return sa
}

// newAccount makes a ServiceAccount, or for default changes it, as a user would.
func (w *world) edit(t *testing.T, namespace, name string, annotations map[string]string, pullSecrets ...string) *corev1.ServiceAccount {
	t.Helper()
	sa := w.account(t, namespace, name)
	patch := client.MergeFrom(sa.DeepCopy())
	if sa.Annotations == nil {
		sa.Annotations = map[string]string{}
	}
	maps.Copy(sa.Annotations, annotations)
	for _, s := range pullSecrets {
		sa.ImagePullSecrets = append(sa.ImagePullSecrets, corev1.LocalObjectReference{Name: s})
	}
	require.NoError(t, w.Patch(t.Context(), sa, patch, client.FieldOwner("kubectl-edit")))
	return sa
}

// identities are the RunnerIdentities of a namespace, by name.
func (w *world) identitiesIn(t *testing.T, namespace string) map[string]v1alpha1.RunnerIdentity {
	t.Helper()
	var list v1alpha1.RunnerIdentityList
	require.NoError(t, w.List(t.Context(), &list, client.InNamespace(namespace)))
	byName := map[string]v1alpha1.RunnerIdentity{}
	for _, ri := range list.Items {
		byName[ri.Name] = ri
	}
	return byName
}

// bare waits until no RunnerIdentity is left in a namespace.
func (w *world) bare(t *testing.T, namespace string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(w.identitiesIn(t, namespace)) == 0 }, soon, often)
}

func pullSecrets(sa *corev1.ServiceAccount) []string {
	var names []string
	for _, r := range sa.ImagePullSecrets {
		names = append(names, r.Name)
	}
	return names
}

// login is the registry login of a Secret, as a kubelet reads it.
func (w *world) requireLoggedIn(t *testing.T, namespace, secret string) {
	t.Helper()
	s := &corev1.Secret{}
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: secret}, s))
	var config struct {
		Auths map[string]struct{ Username, Password string }
	}
	require.NoError(t, json.Unmarshal(s.Data[corev1.DockerConfigJsonKey], &config))
	_, _, err := w.cloud.Verify(config.Auths[host].Username, config.Auths[host].Password, host)
	require.NoError(t, err, "the registry takes the login")
}

// recorder remembers events as "Type Reason Action: note".
type recorder struct {
	mu   sync.Mutex
	list []string
}

func (r *recorder) Eventf(_, _ runtime.Object, kind, reason, action, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, fmt.Sprintf("%s %s %s: ", kind, reason, action)+fmt.Sprintf(note, args...))
}

// all are the events so far that contain part.
func (r *recorder) all(part string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, e := range r.list {
		if strings.Contains(e, part) {
			found = append(found, e)
		}
	}
	return found
}
