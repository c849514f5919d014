// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/controllers/runneridentity"
	"github.com/runner-identity/runner-identity/identity"
)

type ctx = context.Context

// cleanup is a context for after the test, whose own is done by then.
func cleanup(t *testing.T) ctx { return context.WithoutCancel(t.Context()) }

// newIdentity makes a RunnerIdentity of the test's provider with role ci.
func (w *world) newIdentity(t *testing.T, name string, change ...func(*v1alpha1.RunnerIdentitySpec)) *v1alpha1.RunnerIdentity {
	t.Helper()
	ri := &v1alpha1.RunnerIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: v1alpha1.RunnerIdentitySpec{IdentityProvider: w.provider, Identity: v1alpha1.Identity{
			AWS: &v1alpha1.AWSIdentity{RoleARN: role},
		}},
	}
	for _, f := range change {
		f(&ri.Spec)
	}
	require.NoError(t, w.Create(t.Context(), ri))
	return ri
}

// annotate binds by annotation, as for the EKS webhook.
func annotate(s *v1alpha1.RunnerIdentitySpec) { s.Identity.AWS.Binding = v1alpha1.AWSAnnotate }

// runAs names the runner's account.
func runAs(name string) func(*v1alpha1.RunnerIdentitySpec) {
	return func(s *v1alpha1.RunnerIdentitySpec) { s.Identity.ServiceAccounts.Runner = name }
}

// reconcile runs one reconciliation, which must not fail, and returns the identity after it.
func (w *world) reconcile(t *testing.T, c *runneridentity.Controller, name string) (*v1alpha1.RunnerIdentity, reconcile.Result) {
	t.Helper()
	result, err := w.try(t, c, name)
	require.NoError(t, err)
	return w.identity(t, name), result
}

func (w *world) try(t *testing.T, c *runneridentity.Controller, name string) (reconcile.Result, error) {
	t.Helper()
	return reconcile.AsReconciler(c.Client, c).Reconcile(t.Context(), reconcile.Request{NamespacedName: w.key(name)})
}

func (w *world) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: name}
}

func (w *world) identity(t *testing.T, name string) *v1alpha1.RunnerIdentity {
	t.Helper()
	ri := &v1alpha1.RunnerIdentity{}
	require.NoError(t, client.IgnoreNotFound(w.Get(t.Context(), w.key(name), ri)))
	return ri
}

func (w *world) account(t *testing.T, name string) *corev1.ServiceAccount {
	t.Helper()
	sa := &corev1.ServiceAccount{}
	require.NoError(t, w.Get(t.Context(), w.key(name), sa))
	return sa
}

func (w *world) secret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	s := &corev1.Secret{}
	require.NoError(t, w.Get(t.Context(), w.key(name), s))
	return s
}

// newAccount makes a ServiceAccount as a user would.
func (w *world) newAccount(t *testing.T, name string, annotations map[string]string, pullSecrets ...string) *corev1.ServiceAccount {
	t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name, Annotations: annotations}}
	for _, s := range pullSecrets {
		sa.ImagePullSecrets = append(sa.ImagePullSecrets, corev1.LocalObjectReference{Name: s})
	}
	require.NoError(t, w.Create(t.Context(), sa, client.FieldOwner("kubectl-create")))
	return sa
}

func pullSecrets(sa *corev1.ServiceAccount) []string {
	var names []string
	for _, r := range sa.ImagePullSecrets {
		names = append(names, r.Name)
	}
	return names
}

// condition is "True Reason: message".
func condition(ri *v1alpha1.RunnerIdentity, kind string) string {
	c := meta.FindStatusCondition(ri.Status.Conditions, kind)
	if c == nil {
		return "missing"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// tokens are the API server's tokens, good for longer than a test's clock is moved; it remembers them.
type tokens struct {
	next   runneridentity.Tokens
	mu     sync.Mutex
	issued []string
}

func (k *tokens) Token(ctx ctx, r runneridentity.TokenRequest) (identity.Secret, error) {
	r.Lifetime = 30 * 24 * time.Hour
	token, err := k.next.Token(ctx, r)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.issued = append(k.issued, token.Reveal())
	return token, err
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

// take returns the events so far that contain part, and forgets all.
func (r *recorder) take(part string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, e := range r.list {
		if strings.Contains(e, part) {
			found = append(found, e)
		}
	}
	r.list = nil
	return found
}
