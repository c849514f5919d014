// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

func TestRoleIsChainedIntoAnotherAccount(t *testing.T) {
	w := newWorld(t)
	chained := stscreds.NewAssumeRoleProvider(w.sts(w.session(t, ciRole)), deployRole, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName, o.ExternalID, o.Duration = "deploy-1", awssdk.String("acme-ci"), time.Hour
	})
	got, err := w.sts(chained).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	require.NoError(t, err)
	assert.Equal(t, "arn:aws:sts::444455556666:assumed-role/deploy/deploy-1", *got.Arn)
	assert.Equal(t, other, *got.Account)
	assert.Equal(t, 1, w.Calls(aws.STS, "AssumeRole"))
}

func TestChainedSessionLivesNoLongerThanAnHour(t *testing.T) {
	w := newWorld(t)
	_, err := w.sts(w.session(t, ciRole)).AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: awssdk.String(deployRole), RoleSessionName: awssdk.String("deploy-1"), ExternalId: awssdk.String("acme-ci"),
		DurationSeconds: awssdk.Int32(3601),
	})
	requireAPIError(t, err, 400, "ValidationError", "1 hour session limit for roles assumed by role chaining")
}

func TestChainIsRefused(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, externalID string }{
		"because the external id is another":              {ciRole, deployRole, "acme"},
		"because the caller may not assume roles":         {bareRole, deployRole, "acme-ci"},
		"because the role trusts tokens and no principal": {ciRole, bareRole, "acme-ci"},
		"because the role does not exist":                 {ciRole, foreignRole, "acme-ci"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.sts(w.session(t, tt.from)).AssumeRole(t.Context(), &sts.AssumeRoleInput{
				RoleArn: &tt.to, RoleSessionName: awssdk.String("deploy-1"), ExternalId: &tt.externalID,
			})
			requireAPIError(t, err, 403, "AccessDenied", "is not authorized to perform: sts:AssumeRole on resource: "+tt.to)
		})
	}
}

func TestCallerIsUnknownToSTS(t *testing.T) {
	w := newWorld(t)
	whoami := func(c awssdk.CredentialsProvider) error {
		_, err := w.sts(c).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		return err
	}
	requireAPIError(t, whoami(awssdk.AnonymousCredentials{}), 403, "MissingAuthenticationToken", "")
	requireAPIError(t, whoami(credentials.NewStaticCredentialsProvider("AKIAIOSFODNN7EXAMPLE", "secret", "")), 403, "InvalidClientTokenId", "invalid")

	good := w.session(t, ciRole).Value
	requireAPIError(t, whoami(credentials.NewStaticCredentialsProvider(good.AccessKeyID, "guessed", good.SessionToken)), 403, "SignatureDoesNotMatch", "does not match")
	requireAPIError(t, whoami(credentials.NewStaticCredentialsProvider(good.AccessKeyID, good.SecretAccessKey, "another")), 403, "InvalidClientTokenId", "")

	w.clock.Step(time.Hour)
	requireAPIError(t, whoami(credentials.StaticCredentialsProvider{Value: good}), 403, "ExpiredToken", "expired")
}
