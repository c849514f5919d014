// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecrpublic"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

const host = account + ".dkr.ecr." + region + ".amazonaws.com"

// login gets an ECR login and takes it apart at the first colon.
func (w *world) login(t *testing.T, c awssdk.CredentialsProvider) (user, password string, expires time.Time) {
	t.Helper()
	out, err := w.ecr(c).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
	require.NoError(t, err)
	require.Len(t, out.AuthorizationData, 1)
	assert.Equal(t, "https://"+host, *out.AuthorizationData[0].ProxyEndpoint)
	user, password = split(t, *out.AuthorizationData[0].AuthorizationToken)
	return user, password, *out.AuthorizationData[0].ExpiresAt
}

func split(t *testing.T, token string) (user, password string) {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(token)
	require.NoError(t, err)
	user, password, ok := strings.Cut(string(b), ":")
	require.True(t, ok)
	return user, password
}

func TestSessionGetsALoginForTwelveHours(t *testing.T) {
	w := newWorld(t)
	user, password, expires := w.login(t, w.session(t, ciRole))
	assert.Equal(t, "AWS", user)
	assert.WithinDuration(t, w.clock.Now().Add(12*time.Hour), expires, time.Second)

	gotAccount, gotRegion, err := w.Verify(user, password, host)
	require.NoError(t, err)
	assert.Equal(t, account, gotAccount)
	assert.Equal(t, region, gotRegion)
}

func TestLoginOutlivesItsSessionAndNotItsOwnTime(t *testing.T) {
	w := newWorld(t)
	user, password, _ := w.login(t, w.session(t, ciRole))
	w.clock.Step(12*time.Hour - time.Second)
	_, _, err := w.Verify(user, password, host)
	require.NoError(t, err)
	w.clock.Step(time.Second)
	_, _, err = w.Verify(user, password, host)
	require.ErrorIs(t, err, aws.ErrExpiredLogin)
}

func TestLoginForRegistriesNamedByID(t *testing.T) {
	w := newWorld(t)
	out, err := w.ecr(w.session(t, ciRole)).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{RegistryIds: []string{account, other}}) //nolint:staticcheck // deprecated, and still sent by clients in the field
	require.NoError(t, err)
	require.Len(t, out.AuthorizationData, 2)
	assert.Equal(t, "https://"+other+".dkr.ecr.eu-west-1.amazonaws.com", *out.AuthorizationData[1].ProxyEndpoint)

	_, err = w.ecr(w.session(t, ciRole)).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{RegistryIds: []string{"12"}}) //nolint:staticcheck // deprecated, and still sent by clients in the field
	requireAPIError(t, err, 400, "InvalidParameterException", "[0-9]{12}")
}

func TestECRRefusesTheCaller(t *testing.T) {
	for name, tt := range map[string]struct {
		credentials func(*testing.T, *world) awssdk.CredentialsProvider
		region      string
		code        string
		message     string
	}{
		"who has no credentials": {
			func(*testing.T, *world) awssdk.CredentialsProvider { return awssdk.AnonymousCredentials{} },
			region, "MissingAuthenticationTokenException", "",
		},
		"whose key STS never issued": {
			func(*testing.T, *world) awssdk.CredentialsProvider {
				return credentials.NewStaticCredentialsProvider("AKIAIOSFODNN7EXAMPLE", "secret", "token")
			}, region, "UnrecognizedClientException", "The security token included in the request is invalid.",
		},
		"whose secret is wrong": {
			func(t *testing.T, w *world) awssdk.CredentialsProvider {
				v := w.session(t, ciRole).Value
				return credentials.NewStaticCredentialsProvider(v.AccessKeyID, "guessed", v.SessionToken)
			}, region, "InvalidSignatureException", "does not match",
		},
		"whose session has expired": {
			func(t *testing.T, w *world) awssdk.CredentialsProvider {
				c := w.session(t, ciRole)
				w.clock.Step(time.Hour)
				return c
			}, region, "ExpiredTokenException", "The security token included in the request is expired",
		},
		"whose role lacks the permission": {
			func(t *testing.T, w *world) awssdk.CredentialsProvider { return w.session(t, bareRole) },
			region, "AccessDeniedException", "assumed-role/bare/ci-runner-abc is not authorized to perform: ecr:GetAuthorizationToken",
		},
		"who signs for a region that is none": {
			func(t *testing.T, w *world) awssdk.CredentialsProvider { return w.session(t, ciRole) },
			"mars-1", "InvalidSignatureException", "valid region, not 'mars-1'",
		},
		"whose role is of another partition than the region": {
			func(t *testing.T, w *world) awssdk.CredentialsProvider { return w.session(t, ciRole) },
			"cn-north-1", "UnrecognizedClientException", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := ecr.NewFromConfig(w.config(tt.credentials(t, w), tt.region))
			_, err := client.GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
			requireAPIError(t, err, 400, tt.code, tt.message)
			assert.Equal(t, 1, w.Calls(aws.ECR, "GetAuthorizationToken"))
		})
	}
}

func TestECRRefusesASignatureMadeForAnotherService(t *testing.T) {
	w := newWorld(t)
	client := ecr.NewFromConfig(w.config(w.session(t, ciRole), region), func(o *ecr.Options) {
		o.AuthSchemeResolver = signedFor("sts")
	})
	_, err := client.GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
	requireAPIError(t, err, 400, "InvalidSignatureException", "scoped to correct service: 'ecr'")
}

func TestOtherOperationsOfECRAreUnknown(t *testing.T) {
	w := newWorld(t)
	_, err := w.ecr(w.session(t, ciRole)).DescribeRepositories(t.Context(), &ecr.DescribeRepositoriesInput{})
	requireAPIError(t, err, 400, "UnknownOperationException", "")
}

func TestSessionGetsALoginToECRPublic(t *testing.T) {
	w := newWorld(t)
	out, err := w.ecrPublic(w.session(t, ciRole)).GetAuthorizationToken(t.Context(), &ecrpublic.GetAuthorizationTokenInput{})
	require.NoError(t, err)
	user, password := split(t, *out.AuthorizationData.AuthorizationToken)
	_, _, err = w.Verify(user, password, "public.ecr.aws")
	require.NoError(t, err)
	_, _, err = w.Verify(user, password, host)
	require.ErrorIs(t, err, aws.ErrUnknownLogin, "a public login is none for private registries")
}

func TestECRPublicRefusesTheCaller(t *testing.T) {
	for name, tt := range map[string]struct {
		permissions []string
		region      string
		code        string
		message     string
	}{
		"who may not get a bearer token": {
			[]string{"ecr-public:GetAuthorizationToken"}, "us-east-1", "AccessDeniedException", "sts:GetServiceBearerToken",
		},
		"who may only get a bearer token": {
			[]string{"sts:GetServiceBearerToken", "ecr:*"}, "us-east-1", "AccessDeniedException", "ecr-public:GetAuthorizationToken",
		},
		"who signs for another region than us-east-1": {
			[]string{"*"}, region, "InvalidSignatureException", "not 'eu-west-1'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(c *aws.Config) {
				role := c.Roles[ciRole]
				role.Permissions = tt.permissions
				c.Roles[ciRole] = role
			})
			client := ecrpublic.NewFromConfig(w.config(w.session(t, ciRole), tt.region))
			_, err := client.GetAuthorizationToken(t.Context(), &ecrpublic.GetAuthorizationTokenInput{})
			requireAPIError(t, err, 400, tt.code, tt.message)
		})
	}
}
