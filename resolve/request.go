// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"slices"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

// request makes the provider's request of an identity.
func request(in Input, plugin string) (identity.Request, error) {
	spec := in.Identity.Spec
	settings, err := settings(in, plugin)
	if err != nil {
		return identity.Request{}, err
	}
	hosts, err := imageHosts(spec.Images)
	if err != nil {
		return identity.Request{}, err
	}
	return identity.Request{
		Namespace:  in.Identity.Namespace,
		Name:       in.Identity.Name,
		Accounts:   Accounts(in.Identity.Name, spec.Identity.ServiceAccounts),
		Targets:    targets(spec.Identity.Targets),
		Issuer:     issuer(in),
		Registries: slices.Sorted(slices.Values(spec.Identity.Registries)),
		ImageHosts: hosts,
		Settings:   settings,
	}, nil
}

// Accounts fills in the default names of an identity's ServiceAccounts.
func Accounts(name string, asked v1alpha1.ServiceAccountNames) identity.Accounts {
	return identity.Accounts{
		Runner: cmp.Or(asked.Runner, name+"-runner"),
		Job:    cmp.Or(asked.Job, name+"-job"),
	}
}

// RegistrySecretName is the name of the Secret with the registry logins of an identity.
func RegistrySecretName(identityName string) string { return identityName + "-registry" }

func targets(asked []v1alpha1.IdentityTarget) identity.Target {
	var t identity.Target
	for _, a := range asked {
		switch a {
		case v1alpha1.TargetRunner:
			t |= identity.Runner
		case v1alpha1.TargetJob:
			t |= identity.Job
		}
	}
	return cmp.Or(t, identity.Runner)
}

func issuer(in Input) string {
	if in.Provider != nil && in.Provider.Spec.Issuer != "" {
		return in.Provider.Spec.Issuer
	}
	return in.Issuer
}

// imageHosts are the registry hosts of images, sorted and without repeats.
func imageHosts(images []string) ([]string, error) {
	var hosts []string
	for _, image := range images {
		host, err := podspec.ImageHost(image)
		if err != nil {
			return nil, identity.Errorf(identity.Invalid, "image: %w", err)
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}
