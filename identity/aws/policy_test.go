// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/runner-identity/runner-identity/identity/aws"
)

const providerARN = "arn:aws:iam::111122223333:oidc-provider/" + issuerKey

func claims() aws.Claims {
	var c aws.Claims
	c.Issuer, c.Subject, c.Audience = issuer, jobSub, []string{"sts.amazonaws.com"}
	return c
}

// allow is a trust policy with one Allow statement for our provider and these conditions, in JSON.
func allow(conditions string) string {
	return policy(fmt.Sprintf(`{"Effect":"Allow","Principal":{"Federated":%q},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{%s}}`, providerARN, conditions))
}

func policy(statements ...string) string {
	return `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
}

// sub and aud are conditions with an operator.
func sub(op, value string) string { return fmt.Sprintf(`%q:{"%s:sub":%q}`, op, issuerKey, value) }

func aud(op, value string) string { return fmt.Sprintf(`%q:{"%s:aud":%q}`, op, issuerKey, value) }

func exact() string {
	return fmt.Sprintf(`"StringEquals":{"%s:aud":"sts.amazonaws.com","%s:sub":%q}`, issuerKey, issuerKey, jobSub)
}

func TestConditionsAreDecidedAsIAMDoes(t *testing.T) {
	key := issuerKey + ":sub"
	for name, tc := range map[string]struct {
		conditions string
		want       bool
	}{
		"both claims exactly":                               {exact(), true},
		"no condition at all":                               {"", true},
		"another subject":                                   {sub("StringEquals", runnerSub), false},
		"another audience":                                  {aud("StringEquals", "vault"), false},
		"one of several values":                             {fmt.Sprintf(`"StringEquals":{%q:[%q,%q]}`, key, runnerSub, jobSub), true},
		"the key in another case":                           {fmt.Sprintf(`"StringEquals":{%q:%q}`, strings.ToUpper(key), jobSub), true},
		"the value in another case":                         {sub("StringEquals", strings.ToUpper(jobSub)), false},
		"the value in another case, ignored":                {sub("StringEqualsIgnoreCase", strings.ToUpper(jobSub)), true},
		"a wildcard with StringEquals is a letter":          {sub("StringEquals", "system:serviceaccount:ci:*"), false},
		"a wildcard with StringLike":                        {sub("StringLike", "system:serviceaccount:ci:*"), true},
		"a wildcard in the middle":                          {sub("StringLike", "system:*:ci:*-job"), true},
		"a question mark":                                   {sub("StringLike", "system:serviceaccount:c?:linux-job"), true},
		"a question mark is one character":                  {sub("StringLike", "system:serviceaccount:ci?:linux-job"), false},
		"a wildcard of another namespace":                   {sub("StringLike", "system:serviceaccount:prod:*"), false},
		"StringLike is case-sensitive":                      {sub("StringLike", "System:*"), false},
		"StringNotEquals of another":                        {sub("StringNotEquals", runnerSub), true},
		"StringNotEquals of this one":                       {sub("StringNotEquals", jobSub), false},
		"StringNotEquals of a list with this one":           {fmt.Sprintf(`"StringNotEquals":{%q:[%q,%q]}`, key, runnerSub, jobSub), false},
		"StringNotEqualsIgnoreCase":                         {sub("StringNotEqualsIgnoreCase", strings.ToUpper(jobSub)), false},
		"StringNotLike":                                     {sub("StringNotLike", "system:serviceaccount:ci:*"), false},
		"ForAnyValue":                                       {aud("ForAnyValue:StringEquals", "sts.amazonaws.com"), true},
		"ForAllValues":                                      {aud("ForAllValues:StringLike", "sts.*"), true},
		"ForAllValues with a key that is not there":         {fmt.Sprintf(`"ForAllValues:StringEquals":{"%s:amr":"x"}`, issuerKey), true},
		"ForAnyValue with a key that is not there":          {fmt.Sprintf(`"ForAnyValue:StringEquals":{"%s:amr":"x"}`, issuerKey), false},
		"StringEquals with a key that is not there":         {fmt.Sprintf(`"StringEquals":{"%s:amr":"x"}`, issuerKey), false},
		"StringNotEquals with a key that is not there":      {fmt.Sprintf(`"StringNotEquals":{"%s:amr":"x"}`, issuerKey), true},
		"StringEqualsIfExists with a key that is not there": {fmt.Sprintf(`"StringEqualsIfExists":{"%s:amr":"x"}`, issuerKey), true},
		"StringEqualsIfExists with another value":           {sub("StringEqualsIfExists", runnerSub), false},
		"Null of a key that is there":                       {sub("Null", "true"), false},
		"Null false of a key that is there":                 {sub("Null", "false"), true},
		"Null as a boolean":                                 {fmt.Sprintf(`"Null":{"%s:amr":true}`, issuerKey), true},
		"Null of something else":                            {sub("Null", "maybe"), false},
		"the issuer with its scheme":                        {fmt.Sprintf(`"StringEquals":{"%s:sub":%q}`, issuer, jobSub), false},
		"another issuer":                                    {fmt.Sprintf(`"StringEquals":{"oidc.example.com/id/other:sub":%q}`, jobSub), false},
		"all operators have to hold":                        {exact() + "," + sub("StringLike", "nobody*"), false},
		"all keys have to hold":                             {fmt.Sprintf(`"StringEquals":{"%s:aud":"vault",%q:%q}`, issuerKey, key, jobSub), false},
		"an operator that this check does not know":         {`"DateLessThan":{"aws:CurrentTime":"2030-01-01T00:00:00Z"}`, false},
		"a key that no token has":                           {`"StringEquals":{"aws:SourceVpc":"vpc-1"}`, false},
		"an operator of strings that does not exist":        {sub("StringSame", jobSub), false},
		"a set operator that does not exist":                {sub("ForSomeValues:StringEquals", jobSub), false},
		"a policy variable":                                 {sub("StringEquals", "system:serviceaccount:ci:${aws:username}"), false},
		"the session name is not known":                     {`"StringLike":{"sts:RoleSessionName":"ci-*"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := aws.EvaluateTrust([]byte(allow(tc.conditions)), roleARN, claims())
			assert.Equal(t, tc.want, d.Allowed, d.Reason)
			assert.NotEmpty(t, d.Reason)
		})
	}
}

func TestStatementsAreDecidedAsIAMDoes(t *testing.T) {
	statement := func(effect, principal, action string) string {
		return fmt.Sprintf(`{"Effect":%q,"Principal":%s,"Action":%s}`, effect, principal, action)
	}
	ours, web := fmt.Sprintf(`{"Federated":%q}`, providerARN), `"sts:AssumeRoleWithWebIdentity"`
	for name, tc := range map[string]struct {
		document string
		want     bool
	}{
		"one that fits":                        {policy(statement("Allow", ours, web)), true},
		"a statement that is not in a list":    {`{"Statement":` + statement("Allow", ours, web) + `}`, true},
		"the second one fits":                  {policy(statement("Allow", `{"AWS":"arn:aws:iam::111122223333:root"}`, `"sts:AssumeRole"`), statement("Allow", ours, web)), true},
		"a Deny wins":                          {policy(statement("Allow", ours, web), statement("Deny", ours, web)), false},
		"a Deny wins if it is first":           {policy(statement("Deny", ours, web), statement("Allow", ours, web)), false},
		"a Deny for others":                    {policy(statement("Allow", ours, web), statement("Deny", `{"AWS":"arn:aws:iam::111122223333:root"}`, web)), true},
		"a Deny for all but us":                {policy(statement("Allow", ours, web), `{"Effect":"Deny","NotPrincipal":`+ours+`,"Action":"*"}`), true},
		"a Deny that cannot be told":           {policy(statement("Allow", ours, web), `{"Effect":"Deny","Principal":"*","Action":"*","Condition":{"NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}`), false},
		"a Deny whose condition does not hold": {policy(statement("Allow", ours, web), `{"Effect":"Deny","Principal":"*","Action":"*","Condition":{`+sub("StringEquals", runnerSub)+`}}`), true},
		"the action in another case":           {policy(statement("Allow", ours, `"STS:assumerolewithwebidentity"`)), true},
		"an action with a wildcard":            {policy(statement("Allow", ours, `["sts:TagSession","sts:AssumeRoleWith*"]`)), true},
		"all actions":                          {policy(statement("Allow", ours, `"*"`)), true},
		"another action":                       {policy(statement("Allow", ours, `"sts:AssumeRole"`)), false},
		"NotAction of another":                 {policy(`{"Effect":"Allow","Principal":` + ours + `,"NotAction":"sts:AssumeRole"}`), true},
		"NotAction of ours":                    {policy(`{"Effect":"Allow","Principal":` + ours + `,"NotAction":"sts:*"}`), false},
		"anyone":                               {policy(statement("Allow", `"*"`, web)), true},
		"the provider of another account":      {policy(statement("Allow", `{"Federated":"arn:aws:iam::999999999999:oidc-provider/`+issuerKey+`"}`, web)), false},
		"another provider":                     {policy(statement("Allow", `{"Federated":"arn:aws:iam::111122223333:oidc-provider/other"}`, web)), false},
		"a provider's ARN with the scheme":     {policy(statement("Allow", `{"Federated":"arn:aws:iam::111122223333:oidc-provider/`+issuer+`"}`, web)), false},
		"one of several providers":             {policy(statement("Allow", `{"Federated":["x",`+fmt.Sprintf("%q", providerARN)+`]}`, web)), true},
		"EKS Pod Identity":                     {policy(statement("Allow", `{"Service":"pods.eks.amazonaws.com"}`, `["sts:AssumeRole","sts:TagSession"]`)), false},
	} {
		t.Run(name, func(t *testing.T) {
			d := aws.EvaluateTrust([]byte(tc.document), roleARN, claims())
			assert.Equal(t, tc.want, d.Allowed, d.Reason)
		})
	}
}

func TestDocumentsThatIAMRefusesAllowNothing(t *testing.T) {
	ours := fmt.Sprintf(`"Principal":{"Federated":%q}`, providerARN)
	for name, tc := range map[string]struct{ document, says string }{
		"no JSON":                    {`nope`, "not JSON"},
		"nothing":                    {``, "not JSON"},
		"cut off":                    {allow(exact())[:80], "not JSON"},
		"text after it":              {allow(exact()) + "x", "text after"},
		"no statement":               {`{"Version":"2012-10-17"}`, "no Statement"},
		"Conditions for Condition":   {policy(`{"Effect":"Allow",` + ours + `,"Action":"*","Conditions":{}}`), "Conditions"},
		"a Resource":                 {policy(`{"Effect":"Allow",` + ours + `,"Action":"*","Resource":"*"}`), "Resource"},
		"an effect in lower case":    {policy(`{"Effect":"allow",` + ours + `,"Action":"*"}`), "neither Allow nor Deny"},
		"no principal":               {policy(`{"Effect":"Allow","Action":"*"}`), "Principal"},
		"no action":                  {policy(`{"Effect":"Allow",` + ours + `}`), "Action"},
		"a principal that is a text": {policy(`{"Effect":"Allow","Principal":"root","Action":"*"}`), "root"},
		"Allow with NotPrincipal":    {policy(`{"Effect":"Allow","NotPrincipal":{"AWS":"x"},"Action":"*"}`), "NotPrincipal"},
		"two StringEquals blocks":    {allow(aud("StringEquals", "sts.amazonaws.com") + "," + sub("StringEquals", jobSub)), `"StringEquals" twice`},
		"values that are objects":    {allow(`"StringEquals":{"x":{"y":"z"}}`), "not a string"},
		"far too long":               {`"` + strings.Repeat("x", 70<<10) + `"`, "4096"},
		"endlessly nested":           {strings.Repeat("[", 60<<10), "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			d := aws.EvaluateTrust([]byte(tc.document), roleARN, claims())
			assert.False(t, d.Allowed)
			assert.Contains(t, d.Reason, tc.says)
		})
	}
}

func TestARoleThatIsNoneIsAllowedNothing(t *testing.T) {
	d := aws.EvaluateTrust([]byte(allow(exact())), "ci", claims())
	assert.False(t, d.Allowed)
	assert.Contains(t, d.Reason, `"ci"`)
}

func TestTheProviderIsOfTheRolesPartition(t *testing.T) {
	china := strings.ReplaceAll(allow(exact()), "arn:aws:", "arn:aws-cn:")
	assert.True(t, aws.EvaluateTrust([]byte(china), "arn:aws-cn:iam::111122223333:role/ci", claims()).Allowed)
	assert.False(t, aws.EvaluateTrust([]byte(china), roleARN, claims()).Allowed)
}

func TestAKnownSessionNameIsDecided(t *testing.T) {
	c := claims()
	c.Session = "ci-linux"
	assert.True(t, aws.EvaluateTrust([]byte(allow(`"StringLike":{"sts:RoleSessionName":"ci-*"}`)), roleARN, c).Allowed)
	assert.False(t, aws.EvaluateTrust([]byte(allow(`"StringLike":{"sts:RoleSessionName":"prod-*"}`)), roleARN, c).Allowed)
}

func TestTheReasonIsWhatTheNearestStatementLacks(t *testing.T) {
	for name, tc := range map[string]struct{ document, want string }{
		"of two statements the one with the right provider": {
			policy(`{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"sts:AssumeRole"}`,
				fmt.Sprintf(`{"Sid":"CI","Effect":"Allow","Principal":{"Federated":%q},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{%s}}`, providerARN, sub("StringEquals", runnerSub))),
			fmt.Sprintf("statement 2 (CI): StringEquals on %s:sub wants %q, the token has %q", issuerKey, runnerSub, jobSub)},
		"the provider's ARN": {
			strings.ReplaceAll(allow(""), "id/abc", "id/other"), fmt.Sprintf(`statement 1: its principal is not {"Federated": %q}`, providerARN)},
		"a claim that the token does not have": {
			allow(fmt.Sprintf(`"StringEquals":{"%s:amr":"x"}`, issuerKey)), fmt.Sprintf(`statement 1: StringEquals on %s:amr wants "x", the token has no such claim`, issuerKey)},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, aws.EvaluateTrust([]byte(tc.document), roleARN, claims()).Reason)
		})
	}
}

// The usual mistakes: configure-aws-credentials #318, #690, #1100, kubernetes-external-secrets #287.
func TestAdviceNamesTheUsualMistakes(t *testing.T) {
	for name, tc := range map[string]struct{ document, says string }{
		"StringEquals with a wildcard":            {allow(sub("StringEquals", "system:serviceaccount:ci:*")), "use StringLike"},
		"no condition on sub":                     {allow(aud("StringEquals", "sts.amazonaws.com")), "every ServiceAccount of the cluster"},
		"no condition on aud":                     {allow(sub("StringEquals", jobSub)), "no condition on " + issuerKey + ":aud"},
		"the aud key where sub was meant":         {allow(aud("StringEquals", jobSub)), "the key has to be " + issuerKey + ":sub"},
		"a subject without system:serviceaccount": {allow(sub("StringEquals", "ci:linux-job")), "system:serviceaccount:<namespace>:<name>"},
		"a subject in another case":               {allow(sub("StringEquals", "system:serviceaccount:CI:linux-job")), "upper and lower case only"},
		"a subject of everyone":                   {allow(sub("StringLike", "system:serviceaccount:*")), "every ServiceAccount"},
		"the scheme in the key":                   {allow(fmt.Sprintf(`"StringEquals":{"%s:sub":%q}`, issuer, jobSub)), "no scheme"},
		"the key of another issuer":               {allow(fmt.Sprintf(`"StringEquals":{"oidc.example.com/id/x:sub":%q}`, jobSub)), "another issuer"},
		"a claim that IAM does not look at":       {allow(fmt.Sprintf(`"StringEquals":{"%s:kubernetes.io":"x"}`, issuerKey)), "only sub and aud"},
		"a key that is none":                      {allow(`"StringEquals":{"sub":"x"}`), "not a condition key"},
		"ForAllValues, met by nothing at all":     {allow(aud("ForAllValues:StringEquals", "sts.amazonaws.com")), "also met by a token without that claim"},
		"IfExists, met by nothing at all":         {allow(sub("StringEqualsIfExists", jobSub)), "leave IfExists away"},
		"an operator that is not known":           {allow(sub("ArnLike", "x")), `operator "ArnLike"`},
		"a key that cannot be decided":            {allow(`"StringEquals":{"aws:SourceVpc":"vpc-1"}`), "cannot be decided from a token"},
		"a policy variable":                       {allow(sub("StringLike", "${aws:x}")), "policy variable"},
		"the trust of Pod Identity":               {policy(`{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":"sts:AssumeRole"}`), "EKS Pod Identity"},
		"the action of another kind of principal": {policy(fmt.Sprintf(`{"Effect":"Allow","Principal":{"Federated":%q},"Action":"sts:AssumeRole"}`, providerARN)), "not sts:AssumeRole"},
		"a principal that is everybody":           {policy(`{"Effect":"Allow","Principal":"*","Action":"sts:AssumeRoleWithWebIdentity"}`), "every account of AWS"},
	} {
		t.Run(name, func(t *testing.T) {
			advice := strings.Join(aws.EvaluateTrust([]byte(tc.document), roleARN, claims()).Advice, "\n")
			assert.Contains(t, advice, tc.says)
			assert.Contains(t, advice, "statement 1: ")
		})
	}
}

func TestAGoodPolicyNeedsNoAdvice(t *testing.T) {
	d := aws.EvaluateTrust([]byte(allow(exact())), roleARN, claims())
	assert.True(t, d.Allowed)
	assert.Equal(t, "statement 1 allows it", d.Reason)
	assert.Empty(t, d.Advice)
}
