// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
)

func TestAProblemNamesTheFieldTheValueAndWhatWouldBeRight(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.AWSDefaults)
		field  string
		says   []string
	}{
		"no role":                        {func(s *v1alpha1.AWSDefaults) { s.RoleARN = "" }, "aws.roleARN", []string{"not set", "arn:aws:iam::111122223333:role/ci"}},
		"a user instead of a role":       {func(s *v1alpha1.AWSDefaults) { s.RoleARN = "arn:aws:iam::111122223333:user/ci" }, "aws.roleARN", []string{"user/ci", "role/"}},
		"eleven digits":                  {func(s *v1alpha1.AWSDefaults) { s.RoleARN = "arn:aws:iam::11112222333:role/ci" }, "aws.roleARN", []string{`"11112222333"`, "12 digits"}},
		"a partition that is none":       {func(s *v1alpha1.AWSDefaults) { s.RoleARN = "arn:aws-moon:iam::111122223333:role/ci" }, "aws.roleARN", []string{"aws-moon", "aws-us-gov"}},
		"a quote in the ARN (#109)":      {func(s *v1alpha1.AWSDefaults) { s.RoleARN = `"arn:aws:iam::111122223333:role/ci"` }, "aws.roleARN", []string{`\"arn:aws`}},
		"a line break in the ARN":        {func(s *v1alpha1.AWSDefaults) { s.RoleARN = roleARN + "\nrole_arn = x" }, "aws.roleARN", []string{`\n`}},
		"an endless ARN":                 {func(s *v1alpha1.AWSDefaults) { s.RoleARN = roleARN + strings.Repeat("x", 2048) }, "aws.roleARN", []string{"2048"}},
		"a role of China in Europe":      {func(s *v1alpha1.AWSDefaults) { s.RoleARN = "arn:aws-cn:iam::111122223333:role/ci" }, "aws.region", []string{"eu-west-1", "aws-cn", "cn-north-1"}},
		"an availability zone":           {func(s *v1alpha1.AWSDefaults) { s.Region = "eu-west-1a" }, "aws.region", []string{"eu-west-1a", "eu-west-1,"}},
		"a region in upper case":         {func(s *v1alpha1.AWSDefaults) { s.Region = "EU-WEST-1" }, "aws.region", []string{"EU-WEST-1"}},
		"a chain to itself (eso #2566)":  {func(s *v1alpha1.AWSDefaults) { s.Chain = []string{roleARN} }, "aws.chain[0]", []string{roleARN, "itself"}},
		"a chain across partitions":      {func(s *v1alpha1.AWSDefaults) { s.Chain = []string{"arn:aws-cn:iam::111122223333:role/ci"} }, "aws.chain[0]", []string{"aws-cn"}},
		"a broken chain":                 {func(s *v1alpha1.AWSDefaults) { s.Chain = []string{deployARN, "deploy"} }, "aws.chain[1]", []string{`"deploy"`}},
		"a session name of one letter":   {func(s *v1alpha1.AWSDefaults) { s.SessionName = "x" }, "aws.sessionName", []string{`"x"`, "2 to 64"}},
		"a session name with a blank":    {func(s *v1alpha1.AWSDefaults) { s.SessionName = "a b" }, "aws.sessionName", []string{`"a b"`}},
		"an audience with a line break":  {func(s *v1alpha1.AWSDefaults) { s.Audience = "a\nb" }, "aws.audience", []string{"sts.amazonaws.com"}},
		"an audience that a shell runs":  {func(s *v1alpha1.AWSDefaults) { s.Audience = "$(id)" }, "aws.audience", []string{"$(id)"}},
		"a token of 9 minutes":           {lifetime(9 * time.Minute), "aws.tokenLifetime", []string{"9m0s", "10m"}},
		"a token of 25 hours":            {lifetime(25 * time.Hour), "aws.tokenLifetime", []string{"25h0m0s", "24h"}},
		"an unknown mode":                {func(s *v1alpha1.AWSDefaults) { s.Mode = "Magic" }, "aws.mode", []string{"Magic", "WebIdentity"}},
		"an unknown binding":             {func(s *v1alpha1.AWSDefaults) { s.Binding = "Glue" }, "aws.binding", []string{"Glue", "Inject"}},
		"Pod Identity with Annotate":     {func(s *v1alpha1.AWSDefaults) { podIdentity(s); annotate(s) }, "aws.binding", []string{"WebIdentity"}},
		"Pod Identity with a chain":      {func(s *v1alpha1.AWSDefaults) { podIdentity(s); chain(s) }, "aws.chain", []string{"targetRoleArn"}},
		"Annotate with a chain":          {func(s *v1alpha1.AWSDefaults) { annotate(s); chain(s) }, "aws.chain", []string{"Inject"}},
		"an endpoint that is a host":     {func(s *v1alpha1.AWSDefaults) { s.Endpoints.STS = "sts.example.com" }, "aws.endpoints.sts", []string{"https://"}},
		"an endpoint with a query":       {func(s *v1alpha1.AWSDefaults) { s.Endpoints.ECR = "https://ecr.example.com?key=1" }, "aws.endpoints.ecr", []string{"query"}},
		"an endpoint of another scheme":  {func(s *v1alpha1.AWSDefaults) { s.Endpoints.ECRPublic = "file:///etc/passwd" }, "aws.endpoints.ecrPublic", []string{"https://"}},
		"Pod Identity in a wrong region": {func(s *v1alpha1.AWSDefaults) { podIdentity(s); s.Region = "here" }, "aws.region", []string{`"here"`}},
	} {
		t.Run(name, func(t *testing.T) {
			problem := theProblem(t, request(t, with(tc.change)))
			assert.Equal(t, tc.field, problem.Field)
			for _, s := range tc.says {
				assert.Contains(t, problem.Message, s)
			}
		})
	}
}

func TestAProblemOfARegistrySaysWhy(t *testing.T) {
	china := with(func(s *v1alpha1.AWSDefaults) {
		s.RoleARN, s.Region = "arn:aws-cn:iam::111122223333:role/ci", "cn-north-1"
	})
	for name, tc := range map[string]struct {
		request identity.Request
		says    string
	}{
		"a registry of somebody else":       {request(t, registries("ghcr.io")), `"ghcr.io" is not a registry of AWS`},
		"a URL":                             {request(t, registries("https://"+ownHost)), `write "` + ownHost + `"`},
		"a repository":                      {request(t, registries(ownHost+"/team/app")), `write "` + ownHost + `"`},
		"a registry of another partition":   {request(t, registries("111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn")), "no login crosses partitions"},
		"China's region under Europe's end": {request(t, china, registries("111122223333.dkr.ecr.cn-north-1.amazonaws.com")), "end in amazonaws.com.cn"},
		"a region that is none":             {request(t, registries("111122223333.dkr.ecr.lala-land-1.amazonaws.com")), `"lala-land-1" is not an AWS region`},
		"ECR Public from China":             {request(t, china, registries("public.ecr.aws")), "partition aws only"},
		"Pod Identity":                      {request(t, with(podIdentity), registries(ownHost)), "tokens that are bound to a running pod"},
	} {
		t.Run(name, func(t *testing.T) {
			problem := theProblem(t, tc.request)
			assert.Equal(t, "registries", problem.Field)
			assert.Contains(t, problem.Message, tc.says)
		})
	}
}

func TestAnEndpointWithAPasswordIsNotShown(t *testing.T) {
	problem := theProblem(t, request(t, with(func(s *v1alpha1.AWSDefaults) { s.Endpoints.STS = "https://me:hunter2@sts.example.com" })))
	assert.Equal(t, "aws.endpoints.sts", problem.Field)
	assert.NotContains(t, problem.Message, "hunter2")
}

func TestEachProblemIsListed(t *testing.T) {
	problems := aws.New().Validate(request(t, registries("ghcr.io"), with(func(s *v1alpha1.AWSDefaults) {
		s.RoleARN, s.Region, s.SessionName = "x", "y", "z"
	})))
	var fields []string
	for _, p := range problems {
		fields = append(fields, p.Field)
	}
	assert.Equal(t, []string{"aws.sessionName", "aws.roleARN", "aws.region", "registries"}, fields)
}

func TestATypingErrorInTheSettingsIsNamed(t *testing.T) {
	r := request(t)
	r.Settings = identity.Settings(`{"roleArn2":"x"}`)
	assert.Contains(t, theProblem(t, r).Message, "roleArn2")
}

func TestTheBoundsOfTheTokenLifetimeAreAllowed(t *testing.T) {
	for _, d := range []time.Duration{10 * time.Minute, 24 * time.Hour} {
		assert.Empty(t, aws.New().Validate(request(t, with(lifetime(d)))))
	}
}

func lifetime(d time.Duration) func(*v1alpha1.AWSDefaults) {
	return func(s *v1alpha1.AWSDefaults) { s.TokenLifetime = &metav1.Duration{Duration: d} }
}

// theProblem is the only problem of a request; Plan has to refuse it in the same words.
func theProblem(t *testing.T, r identity.Request) identity.Problem {
	t.Helper()
	problems := aws.New().Validate(r)
	require.Len(t, problems, 1)
	_, err := aws.New().Plan(r)
	require.EqualError(t, err, problems[0].String())
	require.Equal(t, identity.Invalid, identity.ReasonOf(err))
	return problems[0]
}
