// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

const webIdentity = "AssumeRoleWithWebIdentity"

func TestTokenIsTradedForASession(t *testing.T) {
	w := newWorld(t)
	out, err := w.assume(t, ciRole, w.token(t))
	require.NoError(t, err)

	assert.Equal(t, "arn:aws:sts::111122223333:assumed-role/ci/ci-runner-abc", *out.AssumedRoleUser.Arn, "without the role's path")
	assert.True(t, strings.HasPrefix(*out.AssumedRoleUser.AssumedRoleId, "AROA"))
	assert.Equal(t, subject, *out.SubjectFromWebIdentityToken)
	assert.Equal(t, audience, *out.Audience)
	assert.Equal(t, "arn:aws:iam::111122223333:oidc-provider/oidc.example.com/id/cluster", *out.Provider)
	assert.True(t, strings.HasPrefix(*out.Credentials.AccessKeyId, "ASIA"))
	assert.WithinDuration(t, w.clock.Now().Add(time.Hour), *out.Credentials.Expiration, time.Second, "one hour unless asked for more")
	assert.Equal(t, 1, w.Calls(aws.STS, webIdentity))
}

func TestWorkloadsCredentialsProviderTakesTheAnswer(t *testing.T) {
	w := newWorld(t)
	got, err := w.webIdentity(ciRole, w.token(t)).Retrieve(t.Context())
	require.NoError(t, err)
	assert.Equal(t, account, got.AccountID)
	assert.WithinDuration(t, w.clock.Now().Add(2*time.Hour), got.Expires, time.Second)
}

func TestTokenIsRefused(t *testing.T) {
	set := func(f func(*jwt.Claims)) []func(*jwt.Claims) { return []func(*jwt.Claims){f} }
	denied := "Not authorized to perform sts:AssumeRoleWithWebIdentity"
	for name, tt := range map[string]struct {
		role    string
		claims  []func(*jwt.Claims)
		status  int
		code    string
		message string
		reason  string
	}{
		"because no provider is registered for its issuer": {
			claims: set(func(c *jwt.Claims) { c.Issuer = "https://kubernetes.default.svc" }), status: 400, code: "InvalidIdentityToken",
			message: "No OpenIDConnect provider found in your account for https://kubernetes.default.svc",
		},
		"because the provider is not registered in the role's account": {
			role: foreignRole, status: 400, code: "InvalidIdentityToken", message: "No OpenIDConnect provider found in your account for " + issuerURL,
		},
		"because its audience is none of the provider's": {
			claims: set(func(c *jwt.Claims) { c.Audience = jwt.Audience{"kubernetes"} }), status: 400, code: "InvalidIdentityToken",
			message: "Incorrect token audience",
		},
		"because it has no audience": {
			claims: set(func(c *jwt.Claims) { c.Audience = nil }), status: 400, code: "InvalidIdentityToken", message: "Missing a required claim: aud",
		},
		"because it never expires": {
			claims: set(func(c *jwt.Claims) { c.Expiry = nil }), status: 400, code: "InvalidIdentityToken", message: "Missing a required claim: exp",
		},
		"because it is not valid yet": {
			claims: set(func(c *jwt.Claims) { c.NotBefore = jwt.NewNumericDate(time.Now().Add(time.Hour)) }), status: 400,
			code: "InvalidIdentityToken", message: "could not be validated",
		},
		"because it has expired": {
			claims: set(func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(-time.Minute)) }), status: 400,
			code: "ExpiredTokenException", message: "Token expired: current date/time ",
		},
		"because another account of the cluster asks": {
			claims: set(func(c *jwt.Claims) { c.Subject = "system:serviceaccount:ci:other" }), status: 403, code: "AccessDenied",
			message: denied, reason: "system:serviceaccount:ci:other",
		},
		"because the trust policy wants another audience than the provider took": {
			claims: set(func(c *jwt.Claims) { c.Audience = jwt.Audience{"acme"} }), status: 403, code: "AccessDenied", message: denied, reason: "acme",
		},
		"because the role does not exist, which STS does not say": {
			role: "arn:aws:iam::" + account + ":role/ghost", status: 403, code: "AccessDenied", message: denied, reason: "no such role",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			role := ciRole
			if tt.role != "" {
				role = tt.role
			}
			_, err := w.assume(t, role, w.token(t, tt.claims...))
			requireAPIError(t, err, tt.status, tt.code, tt.message)
			last := w.History()[0]
			assert.Equal(t, tt.code, last.Outcome)
			assert.Equal(t, role, last.Principal)
			assert.Contains(t, last.Reason, tt.reason)
		})
	}
}

func TestForgedTokenIsRefused(t *testing.T) {
	w := newWorld(t)
	forged := sign(t, newKey(t, "first"), w.claims())
	_, err := w.assume(t, ciRole, forged)
	requireAPIError(t, err, 400, "InvalidIdentityToken", "could not be validated")

	_, err = w.assume(t, ciRole, w.token(t)[:40])
	requireAPIError(t, err, 400, "InvalidIdentityToken", "not a valid JWT")
	assert.NotContains(t, w.log.String(), forged)
}

func TestTokenOfAnUnsignedKindIsRefused(t *testing.T) {
	w := newWorld(t)
	parts := strings.Split(w.token(t), ".")
	// {"alg":"none"}
	_, err := w.assume(t, ciRole, "eyJhbGciOiJub25lIn0."+parts[1]+".")
	requireAPIError(t, err, 400, "InvalidIdentityToken", "not a valid JWT")
}

func TestKeysAreFetchedAgainWhenTheIssuerRotatesThem(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		_, err := w.assume(t, ciRole, w.token(t))
		require.NoError(t, err)
	}
	assert.Equal(t, 1, w.keys.fetches(), "known keys are kept")

	w.key = newKey(t, "second")
	_, err := w.assume(t, ciRole, w.token(t))
	requireAPIError(t, err, 400, "InvalidIdentityToken", "Couldn't retrieve verification key")
	w.keys.set(w.key)
	_, err = w.assume(t, ciRole, w.token(t))
	require.NoError(t, err)
	assert.Equal(t, 3, w.keys.fetches())
}

func TestKeysThatCannotBeFetchedAreAnInvalidToken(t *testing.T) {
	w := newWorld(t)
	w.keys.fail()
	_, err := w.assume(t, ciRole, w.token(t))
	requireAPIError(t, err, 400, "InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider")
}

// late is an issuer that answers after STS has given up.
type late struct{}

// RoundTrip gives up.
func (late) RoundTrip(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }

func TestIssuerThatIsTooSlowIsACommunicationError(t *testing.T) {
	w := newWorld(t, func(c *aws.Config) { c.Issuers[0].Client = &http.Client{Transport: late{}} })
	_, err := w.assume(t, ciRole, w.token(t))
	requireAPIError(t, err, 400, "IDPCommunicationError", "")
}

func TestRequestIsOutOfBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*sts.AssumeRoleWithWebIdentityInput)
		message string
	}{
		"session name of one character": {func(i *sts.AssumeRoleWithWebIdentityInput) { i.RoleSessionName = awssdk.String("a") }, "between 2 and 64"},
		"session name with a slash":     {func(i *sts.AssumeRoleWithWebIdentityInput) { i.RoleSessionName = awssdk.String("a/b") }, "regular expression"},
		"session name of 65 characters": {
			func(i *sts.AssumeRoleWithWebIdentityInput) {
				i.RoleSessionName = awssdk.String(strings.Repeat("a", 65))
			}, "between 2 and 64",
		},
		"short ARN": {func(i *sts.AssumeRoleWithWebIdentityInput) { i.RoleArn = awssdk.String("ci") }, "between 20 and 2048"},
		"ARN of a user": {func(i *sts.AssumeRoleWithWebIdentityInput) {
			i.RoleArn = awssdk.String("arn:aws:iam::111122223333:user/ci")
		}, "Request ARN is invalid"},
		"token of 3 bytes":  {func(i *sts.AssumeRoleWithWebIdentityInput) { i.WebIdentityToken = awssdk.String("abc") }, "webIdentityToken"},
		"duration of 899 s": {func(i *sts.AssumeRoleWithWebIdentityInput) { i.DurationSeconds = awssdk.Int32(899) }, "between 900 and 43200"},
		"duration over the role's longest": {
			func(i *sts.AssumeRoleWithWebIdentityInput) { i.DurationSeconds = awssdk.Int32(14401) }, "exceeds the MaxSessionDuration set for this role",
		},
		"session policy, which would not be enforced": {func(i *sts.AssumeRoleWithWebIdentityInput) { i.Policy = awssdk.String("{}") }, "session policies"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.assume(t, ciRole, w.token(t), tt.change)
			requireAPIError(t, err, 400, "ValidationError", tt.message)
		})
	}
}

func TestAnswersHaveTheWireFormatOfSTS(t *testing.T) {
	w := newWorld(t)
	body, status := w.post(t, "Action=Unknown&Version=2011-06-15")
	assert.Equal(t, 400, status)
	assert.Regexp(t, `^<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>InvalidAction</Code>`+
		`<Message>Could not find operation Unknown for version 2011-06-15</Message></Error><RequestId>[0-9a-f-]{36}</RequestId></ErrorResponse>$`, body)

	body, status = w.post(t, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleSessionName=abc&RoleArn="+ciRole+"&WebIdentityToken="+w.token(t))
	assert.Equal(t, 200, status)
	assert.Regexp(t, `^<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>`+
		`.*<Expiration>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ</Expiration>.*<ResponseMetadata><RequestId>[0-9a-f-]{36}</RequestId></ResponseMetadata>`, body)
}
