// SPDX-License-Identifier: Apache-2.0

// Package resolve turns what users and admins wrote into what a provider plans: a RunnerDeployment into its RunnerIdentity,
// and a RunnerIdentity with its IdentityProvider into a provider, a request and a plan. It is pure, so that the controller, the
// commands that print and the tests all see the same.
package resolve

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

// Reasons beside those of package identity.
const (
	// ProviderNotFound: neither an IdentityProvider nor a plug-in has the name.
	ProviderNotFound identity.Reason = v1alpha1.ReasonProviderNotFound
	// NotAllowed: the admin's guard rails refuse the namespace or the principal.
	NotAllowed identity.Reason = v1alpha1.ReasonNotAllowed
)

// Input is all that an identity is resolved from.
type Input struct {
	// Providers are the plug-ins of this build.
	Providers identity.Set
	// Identity is what the user asks for.
	Identity *v1alpha1.RunnerIdentity
	// Provider is the IdentityProvider of the name that the identity asks for, nil if there is none.
	Provider *v1alpha1.IdentityProvider
	// NamespaceLabels are the labels of the identity's namespace.
	NamespaceLabels map[string]string
	// Issuer is the cluster's ServiceAccount issuer, as its discovery document says. Empty if not known.
	Issuer string
	// Image is this project's own image, for the init containers of plans that have something to wait for.
	Image string
	// AccountPullSecrets are the pull secrets that the accounts have of their own, by account. Pods that are given ours would
	// lose them: Kubernetes adds an account's pull secrets only to pods that name none.
	AccountPullSecrets map[string][]string
}

// Resolved is an identity, ready to be made.
type Resolved struct {
	Provider identity.Provider
	Request  identity.Request
	Plan     identity.Plan
	// Runner is what runner pods are given. It is never nil: a runner without cloud identity still has its account.
	Runner *v1alpha1.PodPlan
	// Job is what job pods are given, nil if jobs have no identity.
	Job *v1alpha1.PodPlan
}

// PlanStatus is the plan as status publishes it.
func (r Resolved) PlanStatus() v1alpha1.PlanStatus {
	return v1alpha1.PlanStatus{Runner: r.Runner, Job: r.Job}
}

// Identity resolves an identity. The error's reason (identity.ReasonOf) is Invalid, ProviderNotFound or NotAllowed; its message
// names the field, the value and what would be right.
func Identity(in Input) (Resolved, error) {
	provider, err := plugin(in)
	if err != nil {
		return Resolved{}, err
	}
	if err := namespaceAllowed(in); err != nil {
		return Resolved{}, err
	}
	request, err := request(in, provider.Name())
	if err != nil {
		return Resolved{}, err
	}
	if v, ok := identity.As[identity.Validator](provider); ok {
		if err := identity.Problems(v.Validate(request)); err != nil {
			return Resolved{}, err
		}
	}
	plan, err := provider.Plan(request)
	if err != nil {
		return Resolved{}, err
	}
	if err := principalsAllowed(in, plan); err != nil {
		return Resolved{}, err
	}
	r := withPods(in, Resolved{Provider: provider, Request: request, Plan: plan})
	if r.Runner.Agent, err = agentPlan(in, r); err != nil {
		return Resolved{}, err
	}
	return r, nil
}

// withPods fills in the plans for pods.
func withPods(in Input, r Resolved) Resolved {
	accounts := r.Request.Accounts
	runner := podspec.Of(r.Plan, identity.Runner, accounts.Runner, pullSecrets(in, r.Plan, accounts.Runner))
	r.Runner = withImage(&runner, in.Image)
	if r.Request.Targets.Has(identity.Job) {
		job := podspec.Of(r.Plan, identity.Job, accounts.Job, pullSecrets(in, r.Plan, accounts.Job))
		r.Job = withImage(&job, in.Image)
	}
	return r
}

// withImage fills in the image of a plan's init containers.
func withImage(p *v1alpha1.PodPlan, image string) *v1alpha1.PodPlan {
	for i := range p.InitContainers {
		p.InitContainers[i].Image = image
	}
	return p
}

// pullSecrets are ours and the account's own, without repeats.
func pullSecrets(in Input, plan identity.Plan, account string) []string {
	own := in.AccountPullSecrets[account]
	if len(plan.Registries) == 0 {
		return nil
	}
	ours := RegistrySecretName(in.Identity.Name)
	return append([]string{ours}, slices.DeleteFunc(slices.Clone(own), func(s string) bool { return s == ours })...)
}

// plugin finds the provider that the identity asks for.
func plugin(in Input) (identity.Provider, error) {
	asked := in.Identity.Spec.IdentityProvider
	if in.Provider == nil {
		p, err := in.Providers.Provider(asked)
		if err != nil {
			return nil, identity.Errorf(ProviderNotFound, "identityProvider: there is no IdentityProvider %q, and %w", asked, err)
		}
		return p, nil
	}
	p, err := in.Providers.Provider(in.Provider.Spec.Plugin)
	if err != nil {
		return nil, identity.Errorf(ProviderNotFound, "identityProvider: IdentityProvider %q, plugin: %w", asked, err)
	}
	return p, nil
}

func namespaceAllowed(in Input) error {
	if in.Provider == nil || in.Provider.Spec.AllowedNamespaces == nil {
		return nil
	}
	selector, err := metav1.LabelSelectorAsSelector(in.Provider.Spec.AllowedNamespaces)
	if err != nil {
		return identity.Errorf(identity.Invalid, "IdentityProvider %q, allowedNamespaces: %w", in.Provider.Name, err)
	}
	if !selector.Matches(labels.Set(in.NamespaceLabels)) {
		return identity.Errorf(NotAllowed, "namespace %q may not use IdentityProvider %q: its labels do not match allowedNamespaces (%s)",
			in.Identity.Namespace, in.Provider.Name, selector)
	}
	return nil
}

func principalsAllowed(in Input, plan identity.Plan) error {
	if in.Provider == nil || len(in.Provider.Spec.AllowedPrincipals) == 0 {
		return nil
	}
	if plan.Principal == "" {
		return identity.Errorf(NotAllowed, "IdentityProvider %q has allowedPrincipals, and this identity does not say which principal it will be "+
			"(with EKS Pod Identity the cluster's PodIdentityAssociation decides): use an IdentityProvider without allowedPrincipals for it", in.Provider.Name)
	}
	for _, principal := range append(slices.Clone(plan.Via), plan.Principal) {
		if !slices.ContainsFunc(in.Provider.Spec.AllowedPrincipals, func(glob string) bool { return globMatches(glob, principal) }) {
			return identity.Errorf(NotAllowed, "principal %q is not allowed by IdentityProvider %q, which allows: %q",
				principal, in.Provider.Name, in.Provider.Spec.AllowedPrincipals)
		}
	}
	return nil
}
