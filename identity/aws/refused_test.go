// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
)

func TestEachRefusalOfSTSSaysWhoHasToActAndWhatMendsIt(t *testing.T) {
	for name, tc := range map[string]struct {
		status        int
		code, message string
		want          identity.Reason
		says          []string
	}{
		"the trust policy": {403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity", identity.Denied,
			[]string{roleARN, providerARN, issuerKey + ":sub is " + runnerSub, issuerKey + ":aud is sts.amazonaws.com"}},
		"no OIDC provider": {400, "InvalidIdentityToken", "No OpenIDConnect provider found in your account for " + issuer, identity.Denied,
			[]string{"create the IAM OIDC provider " + providerARN, "account 111122223333"}},
		"the audience": {400, "InvalidIdentityToken", "Incorrect token audience", identity.Denied,
			[]string{"add sts.amazonaws.com to the client ids", providerARN}},
		"keys out of reach": {400, "InvalidIdentityToken", "Couldn't retrieve verification key from your identity provider, please reference AssumeRoleWithWebIdentity documentation", identity.Unreachable,
			[]string{issuer + "/.well-known/openid-configuration", "5 seconds"}},
		"a claim that is missing": {400, "InvalidIdentityToken", "Missing a required claim: aud", identity.Denied, []string{"--service-account-issuer"}},
		"an unknown key":          {400, "InvalidIdentityToken", "The ID Token provided is not a valid JWT", identity.Denied, []string{"present issuer and keys"}},
		"an expired token":        {400, "ExpiredTokenException", "Token expired", identity.Unreachable, []string{"clocks"}},
		"a slow issuer":           {400, "IDPCommunicationError", "slow", identity.Unreachable, []string{issuer, "5 seconds"}},
		"a rejected claim":        {403, "IDPRejectedClaim", "revoked", identity.Denied, []string{issuer}},
		"a large policy":          {400, "PackedPolicyTooLarge", "too large", identity.Invalid, []string{"smaller"}},
		"a malformed policy":      {400, "MalformedPolicyDocument", "malformed", identity.Invalid, []string{"session policy"}},
		"a region that is off":    {403, "RegionDisabledException", "STS is not activated in this region", identity.Denied, []string{"eu-west-1", "111122223333"}},
		"a bad parameter":         {400, "ValidationError", "1 validation error detected", identity.Invalid, []string{"aws.roleARN", "aws.sessionName"}},
		"throttling":              {400, "Throttling", "Rate exceeded", identity.Unreachable, []string{"asked again later"}},
		"trouble at AWS":          {503, "ServiceUnavailable", "later", identity.Unreachable, []string{"ServiceUnavailable"}},
		"an unknown refusal":      {400, "SomethingNew", "no", identity.Denied, []string{"SomethingNew: no"}},
		"an unknown trouble":      {500, "SomethingNew", "no", identity.Unreachable, []string{"SomethingNew: no"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.on(webIdentity, stsError(tc.status, tc.code, tc.message))
			_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
			require.Error(t, err)
			assert.Equal(t, tc.want, identity.ReasonOf(err), err)
			for _, s := range append(tc.says, tc.code, "eu-west-1") {
				assert.Contains(t, err.Error(), s)
			}
			assert.NotContains(t, err.Error(), "request-id-1", "each error would be a new one")
			assert.LessOrEqual(t, f.count(webIdentity), 2)
			assert.Zero(t, f.count(privateLogin), "ECR is not asked without a session")
		})
	}
}

// Asked through ECR, both services retry: nine calls, and an error that names neither.
func TestThrottlingIsNotMadeWorse(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on(webIdentity, stsError(400, "Throttling", "Rate exceeded"))
	_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
	require.ErrorContains(t, err, "Throttling")
	assert.Equal(t, 2, f.count(webIdentity))
}

func TestARefusalIsNotAskedForTwice(t *testing.T) {
	for _, code := range []string{"AccessDenied", "ExpiredTokenException", "InvalidIdentityToken"} {
		f := newFake(t)
		f.on(webIdentity, stsError(400, code, "no"))
		_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
		require.Error(t, err)
		assert.Equal(t, 1, f.count(webIdentity), code)
	}
}

func TestAFailureIsNotKept(t *testing.T) {
	f := newFake(t)
	p, r := f.provider(), request(t, f.endpoints)
	f.on(webIdentity, stsError(403, "AccessDenied", "no"))
	_, err := p.Login(t.Context(), ownHost, token(t), r)
	require.Error(t, err)
	f.on(webIdentity, f.session(webIdentity))
	_, err = p.Login(t.Context(), ownHost, token(t), r)
	require.NoError(t, err)
}

func TestARefusalInAChainNamesBothRoles(t *testing.T) {
	f := newFake(t)
	f.on(assumeRole, stsError(403, "AccessDenied", "User is not authorized to perform: sts:AssumeRole"))
	_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints, with(chain)))
	require.ErrorContains(t, err, roleARN+" needs a permission policy that allows sts:AssumeRole on "+deployARN)
	assert.ErrorContains(t, err, "chain[0]")
	assert.Equal(t, identity.Denied, identity.ReasonOf(err))
}

func TestEachRefusalOfECRSaysWhoHasToAct(t *testing.T) {
	for code, tc := range map[string]struct {
		status int
		want   identity.Reason
		says   string
	}{
		"AccessDeniedException":       {400, identity.Denied, roleARN + " needs ecr:GetAuthorizationToken on *"},
		"ExpiredTokenException":       {400, identity.Unreachable, "new session"},
		"UnrecognizedClientException": {400, identity.Unreachable, "new session"},
		"InvalidSignatureException":   {403, identity.Unreachable, "clock"},
		"ThrottlingException":         {400, identity.Unreachable, "asked again later"},
		"ServerException":             {400, identity.Unreachable, "asked again later"},
		"InvalidParameterException":   {400, identity.Invalid, "registry host"},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.on(privateLogin, ecrError(tc.status, code))
			_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
			require.ErrorContains(t, err, tc.says)
			assert.ErrorContains(t, err, ownHost)
			assert.Equal(t, tc.want, identity.ReasonOf(err))
			assert.LessOrEqual(t, f.count(privateLogin), 2)
			assert.Equal(t, 1, f.count(webIdentity))
		})
	}
}

func TestARefusalOfECRPublicNamesBothRights(t *testing.T) {
	f := newFake(t)
	f.on(publicLogin, ecrError(400, "AccessDeniedException"))
	_, err := f.provider().Login(t.Context(), "public.ecr.aws", token(t), request(t, f.endpoints))
	require.ErrorContains(t, err, "ecr-public:GetAuthorizationToken and sts:GetServiceBearerToken")
}

func TestAnswersThatAreNoneCanBeTriedAgain(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no credentials in it": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
		},
		"keys without an expiry": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>%s</SecretAccessKey></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, secretKey)
		},
		"a web page": func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `<html>`+secretKey) },
		"nothing":    func(http.ResponseWriter, *http.Request) {},
		"a bad gateway": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = fmt.Fprint(w, secretKey)
		},
		"a hang-up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.on(webIdentity, answer)
			_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
			require.Error(t, err)
			assert.Equal(t, identity.Unreachable, identity.ReasonOf(err))
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

// A redirect would carry the token in the body of the next request.
func TestATokenIsNotCarriedAlongARedirect(t *testing.T) {
	elsewhere := newFake(t)
	f := newFake(t)
	f.on(webIdentity, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
	require.Error(t, err)
	assert.Empty(t, elsewhere.calls)
	assert.Equal(t, 1, f.count(webIdentity))
}

// STS quotes the value that it does not like.
func TestATokenIsNeverInAnError(t *testing.T) {
	tok := token(t)
	f := newFake(t)
	f.on(webIdentity, stsError(400, "ValidationError", "1 validation error detected: Value '"+tok.Reveal()+"' at 'webIdentityToken' failed"))
	_, err := f.provider().Login(t.Context(), ownHost, tok, request(t, f.endpoints))
	require.ErrorContains(t, err, "Value '[redacted]' at 'webIdentityToken' failed")
	f.on(webIdentity, stsError(400, "ValidationError", "Value '"+tok.Reveal()[:40]+"...' is too short"))
	_, err = f.provider().Login(t.Context(), ownHost, tok, request(t, f.endpoints))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), tok.Reveal()[:20], "not in part either")
	assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), tok.Reveal()[:20])
}

func TestAnEndlessMessageIsCut(t *testing.T) {
	f := newFake(t)
	f.on(webIdentity, stsError(403, "AccessDenied", strings.Repeat("no ", 2000)))
	_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
	require.Error(t, err)
	assert.Less(t, len(err.Error()), 1000)
}
