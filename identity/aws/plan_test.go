// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// env is a target's variables as NAME=value, in the plan's order.
func env(p identity.Plan, target identity.Target) []string {
	var all []string
	for _, e := range p.Env {
		if e.For.Has(target) {
			all = append(all, e.Name+"="+e.Value)
		}
	}
	return all
}

// The constants of the EKS pod identity webhook, written out: a webhook that runs after us has to find all of its names, in
// its own order, so that it changes nothing (cases 1, 3, 5 and 8 of its test data).
func TestTheRunnerGetsExactlyTheNamesOfTheEKSWebhook(t *testing.T) {
	p := plan(t, request(t))
	require.Len(t, p.Tokens, 1)
	assert.Equal(t, identity.Token{
		Path: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token", Volume: "aws-iam-token",
		Audience: "sts.amazonaws.com", Lifetime: 86400 * time.Second, For: identity.Runner,
	}, p.Tokens[0])
	assert.Equal(t, []string{
		"AWS_STS_REGIONAL_ENDPOINTS=regional",
		"AWS_DEFAULT_REGION=eu-west-1",
		"AWS_REGION=eu-west-1",
		"AWS_ROLE_ARN=" + roleARN,
		"AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
		"AWS_ROLE_SESSION_NAME=ci-linux",
		"AWS_EC2_METADATA_DISABLED=true",
	}, env(p, identity.Runner))
	assert.Empty(t, p.Accounts, "no annotation: the webhook has no reason to come by")
	assert.Empty(t, p.Files)
	assert.Equal(t, roleARN, p.Principal)
}

// The symptom is "mkdir .../eks.amazonaws.com/serviceaccount/token: File exists" (runner-container-hooks #381).
func TestTheJobsTokenIsNeverAtThePathThatTheContainerHookTripsOver(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.AWSDefaults){"inject": func(*v1alpha1.AWSDefaults) {}, "chain": chain, "Pod Identity": podIdentity} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, request(t, as(identity.Both), with(change)))
			for _, token := range p.Tokens {
				if token.For.Has(identity.Job) {
					assert.True(t, strings.HasPrefix(token.Path, identity.Dir+"/aws/"), token.Path)
				}
			}
			for _, line := range env(p, identity.Job) {
				assert.NotContains(t, line, "/var/run/secrets/")
			}
		})
	}
}

func TestTheJobIsPointedToItsOwnToken(t *testing.T) {
	p := plan(t, request(t, as(identity.Both)))
	assert.Contains(t, env(p, identity.Job), "AWS_WEB_IDENTITY_TOKEN_FILE="+identity.Dir+"/aws/token")
	assert.Contains(t, env(p, identity.Runner), "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/eks.amazonaws.com/serviceaccount/token")
	assert.Len(t, p.Tokens, 2)
}

// The symptom is a job that silently works with the node's rights (kubernetes-external-secrets #419).
func TestABrokenIdentityDoesNotFallBackToTheNodesRole(t *testing.T) {
	const off = "AWS_EC2_METADATA_DISABLED=true"
	for name, change := range map[string]func(*v1alpha1.AWSDefaults){"inject": func(*v1alpha1.AWSDefaults) {}, "chain": chain, "annotate": annotate, "Pod Identity": podIdentity} {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, env(plan(t, request(t, with(change))), identity.Runner), off)
			allowed := request(t, with(change), with(func(s *v1alpha1.AWSDefaults) { s.AllowInstanceMetadata = true }))
			assert.NotContains(t, env(plan(t, allowed), identity.Runner), off)
		})
	}
}

func TestAnnotateLeavesThePodToTheWebhook(t *testing.T) {
	p := plan(t, request(t, with(annotate)))
	assert.Equal(t, []identity.Metadata{{For: identity.Runner, Annotations: map[string]string{
		"eks.amazonaws.com/role-arn":               roleARN,
		"eks.amazonaws.com/sts-regional-endpoints": "true",
		"eks.amazonaws.com/token-expiration":       "86400",
	}}}, p.Accounts)
	assert.Empty(t, p.Tokens)
	assert.Equal(t, "sts.amazonaws.com", p.Exchange.Audience, "registry logins work all the same")
}

// With STS, region and role all there the webhook adds no mount (webhook #82, its test rawPodHasAll).
func TestAnnotateNeverCompletesTheWebhooksAllPresentShortcut(t *testing.T) {
	got := env(plan(t, request(t, with(annotate))), identity.Runner)
	assert.Equal(t, []string{"AWS_DEFAULT_REGION=eu-west-1", "AWS_REGION=eu-west-1", "AWS_EC2_METADATA_DISABLED=true"}, got)
}

func TestAnnotateNamesAnotherAudienceAndLifetime(t *testing.T) {
	p := plan(t, request(t, with(annotate), with(func(s *v1alpha1.AWSDefaults) {
		s.Audience, s.TokenLifetime = "sts.amazonaws.com.cn", &metav1.Duration{Duration: 20 * time.Minute}
	})))
	assert.Equal(t, "sts.amazonaws.com.cn", p.Accounts[0].Annotations["eks.amazonaws.com/audience"])
	assert.Equal(t, "1200", p.Accounts[0].Annotations["eks.amazonaws.com/token-expiration"])
	assert.Equal(t, identity.Exchange{Audience: "sts.amazonaws.com.cn", Lifetime: time.Hour}, p.Exchange)
}

// With both, the Go SDK stays with the role of the variables and ignores the chain of the file.
func TestAChainIsHandedOverInAFileAndInNoVariable(t *testing.T) {
	p := plan(t, request(t, as(identity.Both), with(chain)))
	for _, target := range []identity.Target{identity.Runner, identity.Job} {
		assert.Equal(t, []string{
			"AWS_STS_REGIONAL_ENDPOINTS=regional",
			"AWS_DEFAULT_REGION=eu-west-1",
			"AWS_REGION=eu-west-1",
			"AWS_CONFIG_FILE=" + identity.Dir + "/aws/config",
			"AWS_SDK_LOAD_CONFIG=1",
			"AWS_EC2_METADATA_DISABLED=true",
		}, env(p, target))
	}
	require.Len(t, p.Pods, 1)
	assert.Equal(t, map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "true"}, p.Pods[0].Labels, "the webhook would add the variables")
	assert.Equal(t, deployARN, p.Principal)
	assert.Equal(t, []string{"444455556666.dkr.ecr.eu-west-1.amazonaws.com"}, p.Hosts(), "the principal's own registry")
}

func TestTheAdminsGuardRailsSeeEveryRoleOfAChain(t *testing.T) {
	p := plan(t, request(t, with(func(s *v1alpha1.AWSDefaults) { s.Chain = []string{"arn:aws:iam::111122223333:role/hop", deployARN} })))
	assert.Equal(t, []string{roleARN, "arn:aws:iam::111122223333:role/hop"}, p.Via, "else an allowed last role would let any first one through")
	assert.Equal(t, deployARN, p.Principal)
}

func TestTheConfigFileOfAChainIsTheGoldenOne(t *testing.T) {
	p := plan(t, request(t, with(func(s *v1alpha1.AWSDefaults) {
		s.Chain = []string{deployARN, "arn:aws:iam::777788889999:role/path/prod"}
	})))
	require.Len(t, p.Files, 1)
	want, err := os.ReadFile(filepath.Join("testdata", "chain.config"))
	require.NoError(t, err)
	assert.Equal(t, string(want), p.Files[0].Content)
}

func TestPodIdentityHasTheNamesOfItsWebhook(t *testing.T) {
	p := plan(t, request(t, with(podIdentity)))
	const token = "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount/eks-pod-identity-token"
	assert.Equal(t, []identity.Token{{
		Path: token, Volume: "eks-pod-identity-token", Audience: "pods.eks.amazonaws.com", Lifetime: 24 * time.Hour, For: identity.Runner,
	}}, p.Tokens)
	assert.Equal(t, []string{
		"AWS_STS_REGIONAL_ENDPOINTS=regional",
		"AWS_DEFAULT_REGION=eu-west-1",
		"AWS_REGION=eu-west-1",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI=http://169.254.170.23/v1/credentials",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=" + token,
		"AWS_EC2_METADATA_DISABLED=true",
	}, env(p, identity.Runner))
	assert.Equal(t, "enabled", p.Pods[0].Labels["eks.amazonaws.com/pod-identity"])
	assert.Empty(t, p.Exchange, "EKS takes only tokens bound to a running pod")
	assert.Empty(t, p.Registries)
}

// The symptom is a login to the wrong account (amazon-ecr-login #951): container credentials win over others.
func TestContainerCredentialsAreNotSetWhenNotAskedFor(t *testing.T) {
	for _, line := range env(plan(t, request(t, as(identity.Both))), identity.Both) {
		assert.NotContains(t, line, "AWS_CONTAINER_")
	}
}

// The symptom is UnrecognizedClientException: SDKs take a variable that is set and empty for keys (login-action #64).
func TestNoVariableIsEverEmpty(t *testing.T) {
	p := plan(t, request(t, with(podIdentity), with(func(s *v1alpha1.AWSDefaults) { s.Region = "" })))
	for _, e := range p.Env {
		assert.NotEmpty(t, e.Value, e.Name)
		assert.NotContains(t, []string{"AWS_REGION", "AWS_DEFAULT_REGION"}, e.Name, "no region is known")
	}
}

func TestARequestForNobodyPlansNothing(t *testing.T) {
	assert.Equal(t, identity.Plan{}, plan(t, request(t, as(0))))
}

func TestWhichRegistriesAreLoggedInTo(t *testing.T) {
	noRegion := with(func(s *v1alpha1.AWSDefaults) { s.Region = "" })
	for name, tc := range map[string]struct {
		request identity.Request
		want    []string
	}{
		"the principal's own, if nothing else is known":             {request(t), []string{ownHost}},
		"those asked for replace all others":                        {request(t, registries(otherHost), images("public.ecr.aws")), []string{otherHost}},
		"those of the images, and the principal's own":              {request(t, images("docker.io", otherHost, "public.ecr.aws")), []string{otherHost, "public.ecr.aws", ownHost}},
		"the principal's own is there once":                         {request(t, images(ownHost)), []string{ownHost}},
		"an image of another partition is not ours":                 {request(t, images("111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn")), []string{ownHost}},
		"the region comes from the first private registry":          {request(t, noRegion, registries("public.ecr.aws", otherHost)), []string{"public.ecr.aws", otherHost}},
		"the region of the own registry comes from the images then": {request(t, noRegion, images(otherHost)), []string{otherHost, "111122223333.dkr.ecr.eu-central-1.amazonaws.com"}},
		"a registry asked for twice is there once":                  {request(t, registries(otherHost, otherHost)), []string{otherHost}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, plan(t, tc.request).Hosts())
		})
	}
}

// STS has its own region, which is not that of a registry in another one (fluxcd/pkg #734).
func TestTheRegionOfARegistryDoesNotChangeThatOfSTS(t *testing.T) {
	p := plan(t, request(t, registries(otherHost)))
	assert.Contains(t, env(p, identity.Runner), "AWS_REGION=eu-west-1")
}

func TestTheOwnRegistryIsRightInEachPartition(t *testing.T) {
	for arn, tc := range map[string]struct{ region, host string }{
		"arn:aws:iam::111122223333:role/ci":        {"eu-west-1", "111122223333.dkr.ecr.eu-west-1.amazonaws.com"},
		"arn:aws-cn:iam::111122223333:role/ci":     {"cn-north-1", "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn"},
		"arn:aws-us-gov:iam::111122223333:role/ci": {"us-gov-west-1", "111122223333.dkr.ecr.us-gov-west-1.amazonaws.com"},
		"arn:aws-eusc:iam::111122223333:role/ci":   {"eusc-de-east-1", "111122223333.dkr.ecr.eusc-de-east-1.amazonaws.eu"},
		"arn:aws-iso:iam::111122223333:role/ci":    {"us-iso-east-1", "111122223333.dkr.ecr.us-iso-east-1.c2s.ic.gov"},
		"arn:aws-iso-b:iam::111122223333:role/ci":  {"us-isob-east-1", "111122223333.dkr.ecr.us-isob-east-1.sc2s.sgov.gov"},
		"arn:aws-iso-e:iam::111122223333:role/ci":  {"eu-isoe-west-1", "111122223333.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk"},
		"arn:aws-iso-f:iam::111122223333:role/ci":  {"us-isof-south-1", "111122223333.dkr.ecr.us-isof-south-1.csp.hci.ic.gov"},
	} {
		t.Run(arn, func(t *testing.T) {
			p := plan(t, request(t, with(func(s *v1alpha1.AWSDefaults) { s.RoleARN, s.Region = arn, tc.region })))
			assert.Equal(t, []string{tc.host}, p.Hosts())
		})
	}
}

func TestALongNameKeepsItsDistinguishingTailInTheSession(t *testing.T) {
	long := request(t, func(r *identity.Request, _ *v1alpha1.AWSDefaults) {
		r.Namespace, r.Name = strings.Repeat("n", validation.DNS1123LabelMaxLength), "team-a-linux-arm64"
	})
	for _, e := range plan(t, long).Env {
		if e.Name == "AWS_ROLE_SESSION_NAME" {
			assert.Len(t, e.Value, 64)
			assert.True(t, strings.HasSuffix(e.Value, "-team-a-linux-arm64"))
			return
		}
	}
	assert.Fail(t, "there is no session name")
}
