// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/manifest"
	"github.com/runner-identity/runner-identity/pace"
	"github.com/runner-identity/runner-identity/resolve"
)

// annotationLoginOf says whose logins a registry Secret holds. Those of another principal are never kept.
const annotationLoginOf = v1alpha1.Group + "/login-of"

// presentLogins is what the registry Secret holds.
type presentLogins struct {
	name   string
	secret *corev1.Secret
	// foreign is whether the Secret is somebody else's.
	foreign bool
	// logins are those of the identity's principal, by host.
	logins map[string]hostLogin
}

// readLogins reads the registry Secret, past the cache, which holds no Secret's data.
func (c *Controller) readLogins(ctx context.Context, s *scope) (presentLogins, error) {
	p := presentLogins{name: resolve.RegistrySecretName(s.identity.Name)}
	secret := &corev1.Secret{}
	if err := c.Reader.Get(ctx, types.NamespacedName{Namespace: s.identity.Namespace, Name: p.name}, secret); err != nil {
		return p, client.IgnoreNotFound(err)
	}
	p.secret = secret
	p.foreign = !metav1.IsControlledBy(secret, s.identity)
	if !p.foreign && secret.Annotations[annotationLoginOf] == s.loginOf() {
		p.logins = c.parseLogins(s, secret)
	}
	return p, nil
}

func (s *scope) loginOf() string {
	return digest(s.identity.Spec.IdentityProvider, s.resolved.Plan.Principal, s.resolved.Request.Exchange())
}

// parseLogins reads the logins of a Secret. Data that cannot be read is no login: it is replaced.
func (c *Controller) parseLogins(s *scope, secret *corev1.Secret) map[string]hostLogin {
	var config struct {
		Auths map[string]struct{ Username, Password string }
	}
	if err := json.Unmarshal(secret.Data[corev1.DockerConfigJsonKey], &config); err != nil {
		return nil
	}
	first, err := time.Parse(time.RFC3339, secret.Annotations[v1alpha1.AnnotationExpires])
	if err != nil {
		return nil
	}
	logins := map[string]hostLogin{}
	for host, auth := range config.Auths {
		expires, next := c.times(s.before.Status.Registries, host, first)
		credential := identity.Credential{Username: auth.Username, Password: identity.NewSecret(auth.Password), Expires: expires}
		logins[host] = hostLogin{Login: manifest.Login{Host: host, Credential: credential}, next: next}
	}
	return logins
}

// times says when a login expires and is renewed. Status knows it for each host, but is written after the Secret and may be
// behind by one login; then the Secret's own annotation, the first expiry of all hosts, is the later one and holds.
func (c *Controller) times(registries []v1alpha1.RegistryStatus, host string, first time.Time) (expires, next time.Time) {
	for _, r := range registries {
		if r.Host == host && r.ExpiresAt != nil && r.RenewAt != nil && !r.ExpiresAt.Time.Before(first) {
			return r.ExpiresAt.Time, r.RenewAt.Time
		}
	}
	return first, pace.RenewAt(c.Clock.Now(), first)
}

// writeLogins writes the valid logins, if they differ from what is there. Without any, the Secret goes: an expired login helps
// nobody.
func (c *Controller) writeLogins(ctx context.Context, s *scope, have presentLogins, results []hostLogin) error {
	var logins []manifest.Login
	for _, r := range results {
		if !r.Expires.IsZero() {
			logins = append(logins, r.Login)
		}
	}
	if len(logins) == 0 {
		return c.deleteSecret(ctx, have)
	}
	want, err := manifest.RegistrySecret(s.identity, logins)
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&want.ObjectMeta, annotationLoginOf, s.loginOf())
	if same(have.secret, want) {
		return nil
	}
	// Forced: the Secret is ours from the first byte, and whoever edits it breaks image pulls until it is right again.
	return c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(secretConfig(s.identity, want)), ownManager, client.ForceOwnership)
}

func same(have, want *corev1.Secret) bool {
	return have != nil &&
		bytes.Equal(have.Data[corev1.DockerConfigJsonKey], want.Data[corev1.DockerConfigJsonKey]) &&
		contains(have.Annotations, want.Annotations) && contains(have.Labels, want.Labels)
}

func contains(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}

func secretConfig(ri *v1alpha1.RunnerIdentity, want *corev1.Secret) *unstructured.Unstructured {
	data := map[string]any{}
	for k, v := range want.Data {
		data[k] = base64.StdEncoding.EncodeToString(v)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"type": string(want.Type), "data": data}}
	u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	u.SetNamespace(want.Namespace)
	u.SetName(want.Name)
	u.SetLabels(want.Labels)
	u.SetAnnotations(want.Annotations)
	u.SetOwnerReferences(owner(ri))
	return u
}

// dropLogins deletes the registry Secret, if it is ours, and forgets it.
func (c *Controller) dropLogins(ctx context.Context, s *scope) error {
	status := &s.identity.Status
	status.Registries, status.RegistrySecret, status.LoginExpiresAt = nil, "", nil
	secret := metadata("Secret")
	name := resolve.RegistrySecretName(s.identity.Name)
	if err := c.Reader.Get(ctx, types.NamespacedName{Namespace: s.identity.Namespace, Name: name}, secret); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(secret, s.identity) {
		return nil
	}
	return c.delete(ctx, secret)
}

func (c *Controller) deleteSecret(ctx context.Context, have presentLogins) error {
	if have.secret == nil {
		return nil
	}
	return c.delete(ctx, have.secret)
}

// delete deletes an object as it was read, and not one that was made in its place.
func (c *Controller) delete(ctx context.Context, o client.Object) error {
	err := c.Client.Delete(ctx, o, client.Preconditions{UID: new(o.GetUID())})
	if err := client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("delete %q: %w", o.GetName(), err)
	}
	return nil
}
