// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/resolve"
	awssim "github.com/runner-identity/runner-identity/testbed/aws"
	githubsim "github.com/runner-identity/runner-identity/testbed/github"
)

// githubToken is the demo's credential at the simulated GitHub.
const githubToken = "ghp_demo000000000000000000000000000000000"

// startClouds starts the simulators. IAM holds exactly what the trust command prints for the sample.
func (w *world) startClouds() error {
	role, trust, err := w.trust()
	if err != nil {
		return err
	}
	client, err := w.cluster.HTTPClient()
	if err != nil {
		return err
	}
	w.aws, err = awssim.New(awssim.Config{
		Issuers: []awssim.Issuer{{URL: w.cluster.Issuer, JWKS: w.cluster.JWKSURL, ClientIDs: []string{"sts.amazonaws.com"}, Client: client}},
		Roles:   map[string]awssim.Role{role: {TrustPolicy: trustPolicy(trust), Permissions: []string{"ecr:GetAuthorizationToken"}}},
	})
	if err != nil {
		return err
	}
	w.awsURL = w.aws.Start()
	step("AWS (STS, ECR) at %s; its IAM holds the trust policy that the trust command prints, for role %s", w.awsURL, role)
	w.github = httptest.NewServer(githubsim.New(githubsim.Options{
		Tokens: []githubsim.Token{{Value: githubToken, Scopes: []string{"*"}}},
		Scopes: []string{"orgs/" + w.deployment.Spec.Template.Spec.Organization},
	}))
	w.githubURL = w.github.URL
	step("GitHub at %s", w.githubURL)
	w.sample.here(w)
	return nil
}

// trustPolicy is the document that says who may assume the role.
func trustPolicy(t identity.Trust) []byte {
	for _, d := range t.Documents {
		if strings.HasPrefix(d.Title, "Trust policy") {
			return []byte(d.Body)
		}
	}
	return nil
}

// trust is what the trust command prints for the sample, and the role that it is for.
func (w *world) trust() (string, identity.Trust, error) {
	providers, err := identity.NewSet(aws.New())
	if err != nil {
		return "", identity.Trust{}, err
	}
	provider := w.sample.provider.DeepCopy()
	provider.Spec.Issuer = w.cluster.Issuer
	r, err := resolve.Identity(resolve.Input{Providers: providers, Identity: resolve.Owned(w.deployment), Provider: provider})
	if err != nil {
		return "", identity.Trust{}, err
	}
	truster, ok := identity.As[identity.Truster](r.Provider)
	if !ok {
		return "", identity.Trust{}, fmt.Errorf("provider %s prints no trust policy", r.Provider.Name())
	}
	t, err := truster.Trust(r.Request)
	return r.Plan.Principal, t, err
}
