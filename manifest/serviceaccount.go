// SPDX-License-Identifier: Apache-2.0

// Package manifest makes Kubernetes objects out of resolved identities. It is pure: the controllers write what it returns, the
// render command prints it.
package manifest

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// ServiceAccounts are the accounts of an identity, the runner's first, each with its target's binding and pull secret.
// One account for both targets is returned once. Owner references are the caller's.
func ServiceAccounts(ri *v1alpha1.RunnerIdentity, r resolve.Resolved) []*corev1.ServiceAccount {
	accounts := []*corev1.ServiceAccount{serviceAccount(ri, r, r.Request.Accounts.Runner)}
	if r.Job != nil && r.Request.Accounts.Job != r.Request.Accounts.Runner {
		accounts = append(accounts, serviceAccount(ri, r, r.Request.Accounts.Job))
	}
	return accounts
}

func serviceAccount(ri *v1alpha1.RunnerIdentity, r resolve.Resolved, name string) *corev1.ServiceAccount {
	sa := &corev1.ServiceAccount{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ri.Namespace,
			Name:      name,
			Labels:    map[string]string{v1alpha1.LabelRunnerIdentity: ri.Name},
		},
	}
	for _, m := range r.Plan.Accounts {
		if !isFor(r.Request, m.For, name) {
			continue
		}
		maps.Copy(sa.Labels, m.Labels)
		if sa.Annotations == nil && len(m.Annotations) > 0 {
			sa.Annotations = map[string]string{}
		}
		maps.Copy(sa.Annotations, m.Annotations)
	}
	if len(r.Plan.Registries) > 0 {
		sa.ImagePullSecrets = []corev1.LocalObjectReference{{Name: resolve.RegistrySecretName(ri.Name)}}
	}
	return sa
}

// isFor reports whether something for a target is for the account of that name.
func isFor(r identity.Request, target identity.Target, account string) bool {
	var names []string
	if target.Has(identity.Runner) {
		names = append(names, r.Accounts.Runner)
	}
	if target.Has(identity.Job) {
		names = append(names, r.Accounts.Job)
	}
	return slices.Contains(names, account)
}
