// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/internal/golden"
)

func trust(t testing.TB, r identity.Request) []identity.Document {
	t.Helper()
	got, err := aws.New().Trust(r)
	require.NoError(t, err)
	return got.Documents
}

// titled is the document whose title begins so.
func titled(t testing.TB, docs []identity.Document, title string) identity.Document {
	t.Helper()
	for _, d := range docs {
		if strings.HasPrefix(d.Title, title) {
			return d
		}
	}
	require.Failf(t, "no document", "with title %q", title)
	return identity.Document{}
}

func TestThePrintedTrustPolicyLetsInTheBoundAccountsAndNobodyElse(t *testing.T) {
	for name, tc := range map[string]struct {
		targets     identity.Target
		runner, job bool
	}{
		"the runner": {identity.Runner, true, false},
		"the job":    {identity.Job, false, true},
		"both":       {identity.Both, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := titled(t, trust(t, request(t, as(tc.targets))), "Trust policy of "+roleARN)
			for sub, want := range map[string]bool{
				runnerSub: tc.runner, jobSub: tc.job, "system:serviceaccount:ci:default": false,
				"system:serviceaccount:other:linux-job": false, jobSub + "x": false,
			} {
				c := claims()
				c.Subject = sub
				decision := aws.EvaluateTrust([]byte(d.Body), roleARN, c)
				assert.Equal(t, want, decision.Allowed, "%s: %s", sub, decision.Reason)
				assert.Empty(t, decision.Advice)
			}
			c := claims()
			c.Audience = []string{"vault"}
			assert.False(t, aws.EvaluateTrust([]byte(d.Body), roleARN, c).Allowed, "another audience")
		})
	}
}

func TestThePrintedTrustPolicyIsOfTheRolesPartition(t *testing.T) {
	const gov = "arn:aws-us-gov:iam::111122223333:role/ci"
	docs := trust(t, request(t, with(func(s *v1alpha1.AWSDefaults) { s.RoleARN, s.Region = gov, "us-gov-west-1" })))
	assert.Contains(t, titled(t, docs, "Trust policy of").Body, "arn:aws-us-gov:iam::111122223333:oidc-provider/"+issuerKey)
	assert.Contains(t, titled(t, docs, "Permission policy of").Body, "arn:aws-us-gov:ecr:us-gov-west-1:111122223333:repository/*")
}

func TestAnUnknownIssuerIsAPlaceholderThatSaysHowToFindIt(t *testing.T) {
	docs := trust(t, request(t, func(r *identity.Request, _ *v1alpha1.AWSDefaults) { r.Issuer = "" }))
	d := titled(t, docs, "Trust policy of")
	assert.Contains(t, d.Title, "kubectl get --raw /.well-known/openid-configuration")
	assert.Contains(t, d.Body, `"arn:aws:iam::111122223333:oidc-provider/ISSUER_HOST_AND_PATH"`)
	assert.Contains(t, d.Body, `"ISSUER_HOST_AND_PATH:sub"`)
	assert.Contains(t, titled(t, docs, "IAM OIDC provider").Body, "--url https://ISSUER_HOST_AND_PATH ")
}

func TestEachRoleOfAChainGetsPermissionAndTrust(t *testing.T) {
	const last = "arn:aws:iam::777788889999:role/prod"
	docs := trust(t, request(t, with(func(s *v1alpha1.AWSDefaults) { s.Chain = []string{deployARN, last} })))
	titled(t, docs, "Trust policy of "+roleARN)
	assert.Contains(t, titled(t, docs, "Permission policy of "+roleARN+": it may").Body, deployARN)
	assert.Contains(t, titled(t, docs, "Trust policy of "+deployARN).Body, roleARN)
	assert.Contains(t, titled(t, docs, "Permission policy of "+deployARN+": it may").Body, last)
	assert.Contains(t, titled(t, docs, "Trust policy of "+last).Body, deployARN)
	assert.Contains(t, titled(t, docs, "Permission policy of "+last+": registry").Body, "arn:aws:ecr:eu-west-1:777788889999:repository/*")
}

func TestRegistriesGetTheirPermissions(t *testing.T) {
	docs := trust(t, request(t, registries(ownHost, otherHost, "public.ecr.aws")))
	body := titled(t, docs, "Permission policy of").Body
	for _, want := range []string{
		"ecr:GetAuthorizationToken", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability",
		"ecr-public:GetAuthorizationToken", "sts:GetServiceBearerToken",
		"arn:aws:ecr:eu-west-1:111122223333:repository/*", "arn:aws:ecr:eu-central-1:444455556666:repository/*",
	} {
		assert.Contains(t, body, want)
	}
	foreign := titled(t, docs, "Repository policy")
	assert.Contains(t, foreign.Title, "444455556666")
	assert.Contains(t, foreign.Body, roleARN)
	assert.NotContains(t, foreign.Body, "GetAuthorizationToken", "the login is asked of one's own account")
}

func TestPermissionsThatAreNotNeededAreNotAskedFor(t *testing.T) {
	own := trust(t, request(t))
	assert.NotContains(t, titled(t, own, "Permission policy of").Body, "ecr-public")
	for _, d := range own {
		assert.NotContains(t, d.Title, "Repository policy")
	}
	public := titled(t, trust(t, request(t, registries("public.ecr.aws"))), "Permission policy of")
	assert.NotContains(t, public.Body, `"ecr:`)
}

func TestPodIdentityTrustsTheServiceForTheBoundAccounts(t *testing.T) {
	docs := trust(t, request(t, as(identity.Both), with(podIdentity)))
	body := titled(t, docs, "Trust policy").Body
	for _, want := range []string{"pods.eks.amazonaws.com", "sts:TagSession", "aws:RequestTag/kubernetes-namespace", "linux-runner", "linux-job"} {
		assert.Contains(t, body, want)
	}
	commands := strings.Split(strings.TrimSpace(titled(t, docs, "PodIdentityAssociations").Body), "\n")
	assert.Len(t, commands, 2)
	assert.Contains(t, commands[1], "--service-account linux-job --role-arn ROLE_ARN")
}

func TestEachPolicyIsJSON(t *testing.T) {
	for _, r := range []identity.Request{request(t), request(t, with(chain), registries(otherHost)), request(t, with(podIdentity))} {
		for _, d := range trust(t, r) {
			if strings.HasPrefix(d.Body, "{") {
				assert.True(t, json.Valid([]byte(d.Body)), d.Title)
			}
		}
	}
}

func TestABadRequestHasNoTrust(t *testing.T) {
	_, err := aws.New().Trust(request(t, with(func(s *v1alpha1.AWSDefaults) { s.RoleARN = "" })))
	require.ErrorContains(t, err, "aws.roleARN")
}

func TestTheDocumentsAreTheGoldenOnes(t *testing.T) {
	var b strings.Builder
	for _, d := range trust(t, request(t, as(identity.Both), with(chain), registries(ownHost, "public.ecr.aws"))) {
		b.WriteString("# " + d.Title + "\n" + d.Body + "\n")
	}
	golden.Check(t, "trust.txt", b.String())
}
