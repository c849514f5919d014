// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// resolve finds the provider and plans. An identity that does not resolve keeps the plan of its last good spec, both parts of
// it: jobs of runners that run already go on as they began. No new runner starts from it, because ServiceAccountReady is
// then False for the new generation. What the admin does not allow is taken away at once, plan, binding and logins.
func (c *Controller) resolve(ctx context.Context, s *scope) error {
	in, err := c.input(ctx, s)
	if err != nil {
		return err
	}
	s.resolved, err = resolve.Identity(in)
	if err == nil {
		return nil
	}
	reason := identity.ReasonOf(err)
	s.condition(v1alpha1.ConditionServiceAccountReady, metav1.ConditionFalse, string(reason), err.Error())
	if reason == resolve.NotAllowed {
		if err := c.revoke(ctx, s); err != nil {
			return err
		}
	}
	return errStop
}

// input reads all that an identity is resolved from.
func (c *Controller) input(ctx context.Context, s *scope) (resolve.Input, error) {
	in := resolve.Input{Providers: c.Providers, Identity: s.identity, Issuer: c.Issuer, Image: c.Image, AccountPullSecrets: map[string][]string{}}
	provider, errProvider := c.provider(ctx, s.identity.Spec.IdentityProvider)
	in.Provider = provider
	namespace := metadata("Namespace")
	errNamespace := c.Client.Get(ctx, client.ObjectKey{Name: s.identity.Namespace}, namespace)
	in.NamespaceLabels = namespace.Labels
	names := resolve.Accounts(s.identity.Name, s.identity.Spec.Identity.ServiceAccounts)
	errRunner := c.readAccount(ctx, s, names.Runner, in.AccountPullSecrets)
	errJob := c.readAccount(ctx, s, names.Job, in.AccountPullSecrets)
	return in, errors.Join(errProvider, errNamespace, errRunner, errJob)
}

// provider is the IdentityProvider of that name, nil if there is none.
func (c *Controller) provider(ctx context.Context, name string) (*v1alpha1.IdentityProvider, error) {
	p := &v1alpha1.IdentityProvider{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, p); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return p, nil
}

// readAccount reads an account, if it exists, and notes the pull secrets that it has beside ours.
func (c *Controller) readAccount(ctx context.Context, s *scope, name string, pullSecrets map[string][]string) error {
	sa := &corev1.ServiceAccount{}
	err := c.Reader.Get(ctx, client.ObjectKey{Namespace: s.identity.Namespace, Name: name}, sa)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ServiceAccount %q: %w", name, err)
	}
	s.current[name] = sa
	pullSecrets[name] = nil
	for _, ref := range sa.ImagePullSecrets {
		if ref.Name != resolve.RegistrySecretName(s.identity.Name) {
			pullSecrets[name] = append(pullSecrets[name], ref.Name)
		}
	}
	return nil
}

// revoke takes away all that pods get an identity from. Accounts stay, bare.
func (c *Controller) revoke(ctx context.Context, s *scope) error {
	status := &s.identity.Status
	status.Plan, status.PlanHash, status.Principal, status.Carrier, status.VerifiedAt = nil, "", "", nil, nil
	for _, kind := range []string{v1alpha1.ConditionPrincipalVerified, v1alpha1.ConditionRegistryLoginReady} {
		s.condition(kind, metav1.ConditionUnknown, v1alpha1.ReasonNotAllowed, "not tried: the identity is not allowed")
	}
	if err := c.releaseAccounts(ctx, s.identity, c.Client, nil); err != nil {
		return err
	}
	if err := c.keepFinalizer(ctx, s, false); err != nil {
		return err
	}
	return c.dropLogins(ctx, s)
}

// metadata is an object of a core kind of which only the metadata is read.
func metadata(kind string) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return m
}
