// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"errors"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecrpublic"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// config is a client's: one attempt, so that a test sees each answer, and none of the machine's own settings.
func (w *world) config(c awssdk.CredentialsProvider, region string) awssdk.Config {
	return awssdk.Config{
		Region: region, BaseEndpoint: awssdk.String(w.url), Credentials: c,
		Retryer: func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

func (w *world) sts(c awssdk.CredentialsProvider) *sts.Client {
	return sts.NewFromConfig(w.config(c, region))
}

func (w *world) ecr(c awssdk.CredentialsProvider) *ecr.Client {
	return ecr.NewFromConfig(w.config(c, region))
}

func (w *world) ecrPublic(c awssdk.CredentialsProvider) *ecrpublic.Client {
	return ecrpublic.NewFromConfig(w.config(c, "us-east-1"))
}

// assume trades a token for a session of the role.
func (w *world) assume(t *testing.T, role, token string, change ...func(*sts.AssumeRoleWithWebIdentityInput)) (*sts.AssumeRoleWithWebIdentityOutput, error) {
	t.Helper()
	in := &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: awssdk.String(role), RoleSessionName: awssdk.String("ci-runner-abc"), WebIdentityToken: awssdk.String(token),
	}
	for _, f := range change {
		f(in)
	}
	return w.sts(awssdk.AnonymousCredentials{}).AssumeRoleWithWebIdentity(t.Context(), in)
}

// session is static credentials of a session of the role.
func (w *world) session(t *testing.T, role string) credentials.StaticCredentialsProvider {
	t.Helper()
	out, err := w.assume(t, role, w.token(t))
	require.NoError(t, err)
	return static(out.Credentials)
}

func static(c *ststypes.Credentials) credentials.StaticCredentialsProvider {
	return credentials.NewStaticCredentialsProvider(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken)
}

// webIdentity is the credentials provider that workloads have, uncached.
func (w *world) webIdentity(role, token string) awssdk.CredentialsProvider {
	return stscreds.NewWebIdentityRoleProvider(w.sts(awssdk.AnonymousCredentials{}), role, literal(token),
		func(o *stscreds.WebIdentityRoleOptions) { o.RoleSessionName, o.Duration = "ci-runner-abc", 2*time.Hour })
}

type literal string

func (l literal) GetIdentityToken() ([]byte, error) { return []byte(l), nil }

// requireAPIError checks code, status and a part of the message of an SDK's error.
func requireAPIError(t *testing.T, err error, status int, code, message string) {
	t.Helper()
	require.Error(t, err)
	api, ok := errors.AsType[smithy.APIError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, code, api.ErrorCode())
	assert.Contains(t, api.ErrorMessage(), message)
	response, ok := errors.AsType[*smithyhttp.ResponseError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, status, response.HTTPStatusCode())
}
