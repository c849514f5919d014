// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"context"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

func TestFaultsAnswerInTheWordsOfTheService(t *testing.T) {
	for name, tt := range map[string]struct {
		fault             aws.Fault
		stsStatus         int
		stsCode, ecrCode  string
		ecrStatus, ecrHit int
	}{
		"throttling":  {fault: aws.Fault{Kind: aws.Throttle}, stsStatus: 400, stsCode: "Throttling", ecrStatus: 400, ecrCode: "ThrottlingException"},
		"a breakdown": {fault: aws.Fault{Kind: aws.Broken}, stsStatus: 500, stsCode: "InternalFailure", ecrStatus: 500, ecrCode: "ServerException"},
		"a refusal":   {fault: aws.Fault{Kind: aws.AccessDenied}, stsStatus: 403, stsCode: "AccessDenied", ecrStatus: 400, ecrCode: "AccessDeniedException"},
		"a region that is not enabled": {
			fault: aws.Fault{Kind: aws.ErrorCode, Code: "RegionDisabledException"}, stsStatus: 403, stsCode: "RegionDisabledException",
			ecrStatus: 403, ecrCode: "RegionDisabledException",
		},
		"a server's fault that looks like the client's": {
			fault: aws.Fault{Kind: aws.ErrorCode, Code: "ServerException"}, stsStatus: 400, stsCode: "ServerException", ecrStatus: 400, ecrCode: "ServerException",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			session := w.session(t, ciRole)
			require.NoError(t, w.Inject(tt.fault))
			_, err := w.assume(t, ciRole, w.token(t))
			requireAPIError(t, err, tt.stsStatus, tt.stsCode, "")
			_, err = w.ecr(session).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
			requireAPIError(t, err, tt.ecrStatus, tt.ecrCode, "")
		})
	}
}

func TestThrottledCallsAreRetriedAndEachIsCounted(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Inject(aws.Fault{Service: aws.STS, Action: webIdentity, Kind: aws.Throttle, Count: 2}))
	client := sts.NewFromConfig(w.config(awssdk.AnonymousCredentials{}, region), func(o *sts.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) { o.Backoff = retry.BackoffDelayerFunc(noDelay) })
	})
	_, err := client.AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: awssdk.String(ciRole), RoleSessionName: awssdk.String("abc"), WebIdentityToken: awssdk.String(w.token(t)),
	})
	require.NoError(t, err)
	assert.Equal(t, 3, w.Calls(aws.STS, webIdentity))
	assert.Empty(t, w.Faults(), "used up")
}

func noDelay(int, error) (time.Duration, error) { return 0, nil }

func TestFaultHitsOnlyWhatItNames(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Inject(aws.Fault{Service: aws.ECR, Kind: aws.Throttle}))
	session := w.session(t, ciRole)
	_, err := w.ecr(session).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
	requireAPIError(t, err, 400, "ThrottlingException", "Rate exceeded")
	w.ClearFaults()
	_, err = w.ecr(session).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
	require.NoError(t, err)
}

func TestSlowCallIsAnsweredOnceItsDelayIsOver(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Inject(aws.Fault{Kind: aws.Slow, Delay: time.Minute, Count: 1}))
	answered := make(chan error, 1)
	token := w.token(t)
	go func() {
		_, err := w.assume(t, ciRole, token)
		answered <- err
	}()
	require.Eventually(t, w.clock.HasWaiters, 10*time.Second, time.Millisecond)
	assert.Empty(t, answered)
	w.clock.Step(time.Minute)
	require.NoError(t, <-answered)
}

func TestClientDoesNotWaitForASlowCall(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Inject(aws.Fault{Kind: aws.Slow, Delay: time.Hour}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := w.sts(awssdk.AnonymousCredentials{}).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		ended <- err
	}()
	require.Eventually(t, w.clock.HasWaiters, 10*time.Second, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool { return w.Calls(aws.STS, "GetCallerIdentity") == 1 }, 10*time.Second, time.Millisecond)
	assert.Equal(t, "ClientClosedRequest", w.History()[0].Outcome)
}

func TestCloudsClockIsAhead(t *testing.T) {
	w := newWorld(t)
	session := w.session(t, ciRole)
	require.NoError(t, w.Inject(aws.Fault{Kind: aws.ClockSkew, Delay: 2 * time.Hour}))
	_, err := w.assume(t, ciRole, w.token(t))
	requireAPIError(t, err, 400, "ExpiredTokenException", "Token expired")
	_, err = w.ecr(session).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
	requireAPIError(t, err, 400, "ExpiredTokenException", "")
}

func TestSignatureIsTooOldOrTooYoungForTheCloudsClock(t *testing.T) {
	for name, tt := range map[string]struct {
		skew    time.Duration
		message string
	}{
		"too old":   {30 * time.Minute, "Signature expired: "},
		"too young": {-30 * time.Minute, "Signature not yet current: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			session := w.session(t, ciRole)
			require.NoError(t, w.Inject(aws.Fault{Kind: aws.ClockSkew, Delay: tt.skew}))
			_, err := w.ecr(session).GetAuthorizationToken(t.Context(), &ecr.GetAuthorizationTokenInput{})
			requireAPIError(t, err, 400, "InvalidSignatureException", tt.message)
		})
	}
}

func TestImpossibleFaultIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		fault aws.Fault
		want  string
	}{
		"unknown kind":         {aws.Fault{Kind: "explode"}, `kind "explode": must be one of`},
		"unknown service":      {aws.Fault{Kind: aws.Throttle, Service: "s3"}, `service "s3": must be sts`},
		"slow without a delay": {aws.Fault{Kind: aws.Slow}, "delay 0s: kind slow needs one"},
		"skew of nothing":      {aws.Fault{Kind: aws.ClockSkew}, "delay 0s: kind clockskew needs one"},
		"unknown error code":   {aws.Fault{Kind: aws.ErrorCode, Code: "Oops"}, `code "Oops": must be one of ExpiredTokenException, IDP`},
		"negative count":       {aws.Fault{Kind: aws.Throttle, Count: -1}, "count -1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			require.ErrorContains(t, w.Inject(tt.fault), tt.want)
			assert.Empty(t, w.Faults())
		})
	}
}
