// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
)

const (
	issuer    = "https://oidc.example.com/id/abc"
	issuerKey = "oidc.example.com/id/abc"
	roleARN   = "arn:aws:iam::111122223333:role/ci"
	deployARN = "arn:aws:iam::444455556666:role/deploy"
	ownHost   = "111122223333.dkr.ecr.eu-west-1.amazonaws.com"
	otherHost = "444455556666.dkr.ecr.eu-central-1.amazonaws.com"
	jobSub    = "system:serviceaccount:ci:linux-job"
	runnerSub = "system:serviceaccount:ci:linux-runner"
)

// request is a good one for the runner; change changes it.
func request(t testing.TB, change ...func(*identity.Request, *v1alpha1.AWSDefaults)) identity.Request {
	t.Helper()
	r := identity.Request{
		Namespace: "ci", Name: "linux", Accounts: identity.Accounts{Runner: "linux-runner", Job: "linux-job"},
		Targets: identity.Runner, Issuer: issuer,
	}
	s := v1alpha1.AWSDefaults{AWSIdentity: v1alpha1.AWSIdentity{RoleARN: roleARN, Region: "eu-west-1"}}
	for _, c := range change {
		c(&r, &s)
	}
	b, err := json.Marshal(s)
	require.NoError(t, err)
	r.Settings = b
	return r
}

// with changes the settings of a request, as, its targets.
func with(change func(*v1alpha1.AWSDefaults)) func(*identity.Request, *v1alpha1.AWSDefaults) {
	return func(_ *identity.Request, s *v1alpha1.AWSDefaults) { change(s) }
}

func as(targets identity.Target) func(*identity.Request, *v1alpha1.AWSDefaults) {
	return func(r *identity.Request, _ *v1alpha1.AWSDefaults) { r.Targets = targets }
}

func registries(hosts ...string) func(*identity.Request, *v1alpha1.AWSDefaults) {
	return func(r *identity.Request, _ *v1alpha1.AWSDefaults) { r.Registries = hosts }
}

func images(hosts ...string) func(*identity.Request, *v1alpha1.AWSDefaults) {
	return func(r *identity.Request, _ *v1alpha1.AWSDefaults) { r.ImageHosts = hosts }
}

// plan plans a good request.
func plan(t testing.TB, r identity.Request) identity.Plan {
	t.Helper()
	p, err := aws.New().Plan(r)
	require.NoError(t, err)
	return p
}

func chain(s *v1alpha1.AWSDefaults)       { s.Chain = []string{deployARN} }
func annotate(s *v1alpha1.AWSDefaults)    { s.Binding = v1alpha1.AWSAnnotate }
func podIdentity(s *v1alpha1.AWSDefaults) { s.Mode, s.RoleARN = v1alpha1.AWSPodIdentity, "" }
