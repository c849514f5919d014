// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http/httptest"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/resolve"
	githubsim "github.com/runner-identity/runner-identity/testbed/github"
)

// githubToken is the demo's credential at the simulated GitHub.
const githubToken = "ghp_demo000000000000000000000000000000000"

// startClouds starts the simulators and sends the admin's half to them: the cluster's own issuer, and the simulator instead of
// the cloud. The user's half stays as it is in the file.
func (w *world) startClouds() error {
	r, trust, err := w.trust()
	if err != nil {
		return err
	}
	if w.cloudURL, err = w.cloud.start(w.cluster, r, trust); err != nil {
		return err
	}
	w.sample.provider.Spec.Issuer = w.cluster.Issuer
	w.cloud.here(&w.sample.provider.Spec)
	w.github = httptest.NewServer(githubsim.New(githubsim.Options{
		Tokens: []githubsim.Token{{Value: githubToken, Scopes: []string{"*"}}},
		Scopes: []string{"orgs/" + w.deployment.Spec.Template.Spec.Organization},
	}))
	w.githubURL = w.github.URL
	step("GitHub at %s", w.githubURL)
	return nil
}

// trust is what the trust command prints for the sample, and what the sample resolves to.
func (w *world) trust() (resolve.Resolved, identity.Trust, error) {
	all, err := identity.NewSet(aws.New(), gcp.New())
	if err != nil {
		return resolve.Resolved{}, identity.Trust{}, err
	}
	provider := w.sample.provider.DeepCopy()
	provider.Spec.Issuer = w.cluster.Issuer
	r, err := resolve.Identity(resolve.Input{Providers: all, Identity: resolve.Owned(w.deployment), Provider: provider})
	if err != nil {
		return r, identity.Trust{}, fmt.Errorf("%s, in a cluster with the issuer %s: %w", w.sample.path, w.cluster.Issuer, err)
	}
	if r.Provider.Name() != w.provider {
		return r, identity.Trust{}, fmt.Errorf("%s is for provider %s: run the demo with -provider %[2]s (make demo PROVIDER=%[2]s)", w.sample.path, r.Provider.Name())
	}
	truster, ok := identity.As[identity.Truster](r.Provider)
	if !ok {
		return r, identity.Trust{}, fmt.Errorf("provider %s prints no trust policy", r.Provider.Name())
	}
	t, err := truster.Trust(r.Request)
	return r, t, err
}
