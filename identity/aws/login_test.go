// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

func TestALoginIsWhatECRAnsweredAndEndsWhenItSays(t *testing.T) {
	for _, host := range []string{ownHost, "public.ecr.aws"} {
		t.Run(host, func(t *testing.T) {
			f := newFake(t)
			got, err := f.provider().Login(t.Context(), host, token(t), request(t, f.endpoints))
			require.NoError(t, err)
			assert.Equal(t, "AWS", got.Username)
			assert.Equal(t, ecrPassword, got.Password.Reveal(), "split at the first colon only")
			assert.True(t, now().Add(12*time.Hour).Equal(got.Expires), got.Expires)
		})
	}
}

func TestSTSIsAskedForTheRoleWithTheTokenAndNoSignature(t *testing.T) {
	f := newFake(t)
	withNewline := identity.NewSecret(token(t).Reveal() + "\n")
	_, err := f.provider().Login(t.Context(), ownHost, withNewline, request(t, f.endpoints))
	require.NoError(t, err)
	calls := f.called(webIdentity)
	require.Len(t, calls, 1)
	assert.Equal(t, roleARN, calls[0].form["RoleArn"][0])
	assert.Equal(t, "ci-linux", calls[0].form["RoleSessionName"][0])
	assert.Equal(t, token(t).Reveal(), calls[0].form["WebIdentityToken"][0], "without the newline of a file")
	assert.Empty(t, calls[0].auth)
}

func TestECRIsAskedInTheRegionOfTheHost(t *testing.T) {
	for host, want := range map[string]struct{ action, host, scope string }{
		ownHost:   {privateLogin, "api.ecr.eu-west-1.amazonaws.com", "/eu-west-1/ecr/aws4_request"},
		otherHost: {privateLogin, "api.ecr.eu-central-1.amazonaws.com", "/eu-central-1/ecr/aws4_request"},
		"111122223333.dkr.ecr-fips.us-east-1.amazonaws.com": {privateLogin, "ecr-fips.us-east-1.amazonaws.com", "/us-east-1/ecr/aws4_request"},
		// The symptom of older endpoint rules is "api.ecr.<region>.api.aws: no such host" (cloud-provider-aws #1330).
		"111122223333.dkr-ecr.us-east-1.on.aws":      {privateLogin, "ecr.us-east-1.api.aws", "/us-east-1/ecr/aws4_request"},
		"111122223333.dkr-ecr-fips.us-east-1.on.aws": {privateLogin, "ecr-fips.us-east-1.api.aws", "/us-east-1/ecr/aws4_request"},
		"public.ecr.aws": {publicLogin, "api.ecr-public.us-east-1.amazonaws.com", "/us-east-1/ecr-public/aws4_request"},
	} {
		t.Run(host, func(t *testing.T) {
			f := newFake(t)
			_, err := f.provider().Login(t.Context(), host, token(t), request(t))
			require.NoError(t, err)
			calls := f.called(want.action)
			require.Len(t, calls, 1)
			assert.Equal(t, want.host, calls[0].host)
			assert.Contains(t, calls[0].auth, want.scope)
			assert.Equal(t, "sts.eu-west-1.amazonaws.com", f.called(webIdentity)[0].host, "STS stays in its own region")
		})
	}
}

func TestAFIPSHostWorksWithAnEndpointOfOnesOwn(t *testing.T) {
	f := newFake(t)
	_, err := f.provider().Login(t.Context(), "111122223333.dkr-ecr-fips.us-east-1.on.aws", token(t), request(t, f.endpoints))
	require.NoError(t, err)
}

func TestAChainIsWalkedToItsEnd(t *testing.T) {
	const last = "arn:aws:iam::777788889999:role/prod"
	f := newFake(t)
	r := request(t, f.endpoints, with(func(s *v1alpha1.AWSDefaults) { s.Chain = []string{deployARN, last} }))
	_, err := f.provider().Login(t.Context(), ownHost, token(t), r)
	require.NoError(t, err)
	assert.Equal(t, 1, f.count(webIdentity))
	hops := f.called(assumeRole)
	require.Len(t, hops, 2)
	assert.Equal(t, deployARN, hops[0].form["RoleArn"][0])
	assert.Equal(t, last, hops[1].form["RoleArn"][0])
	assert.Contains(t, hops[0].auth, "Credential=ASIAFAKE/", "signed with the keys of the role before")
}

// STS throttles web identities at a few calls a second (source-controller #938).
func TestOneSTSCallServesAProbeAndThreeLogins(t *testing.T) {
	f := newFake(t)
	p, r := f.provider(), request(t, f.endpoints)
	_, err := p.Probe(t.Context(), token(t), r)
	require.NoError(t, err)
	for _, host := range []string{ownHost, otherHost, "public.ecr.aws"} {
		_, err := p.Login(t.Context(), host, token(t), r)
		require.NoError(t, err)
	}
	assert.Equal(t, 1, f.count(webIdentity))
	assert.Equal(t, 3, f.count(privateLogin), "the probe's and two logins")
	assert.Equal(t, 1, f.count(publicLogin))
}

func TestLoginsAtTheSameTimeShareOneSTSCall(t *testing.T) {
	f := newFake(t)
	p, r, tok := f.provider(), request(t, f.endpoints), token(t)
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			_, err := p.Login(t.Context(), ownHost, tok, r)
			assert.NoError(t, err)
		})
	}
	wait.Wait()
	assert.Equal(t, 1, f.count(webIdentity))
}

func TestOneWhoGivesUpDoesNotTakeTheOthersDown(t *testing.T) {
	f := newFake(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	good := f.session(webIdentity)
	f.on(webIdentity, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		good(w, r)
	})
	p, r, tok := f.provider(), request(t, f.endpoints), token(t)
	ctx, giveUp := context.WithCancel(t.Context())
	impatient := make(chan error)
	go func() { _, err := p.Login(ctx, ownHost, tok, r); impatient <- err }()
	<-arrived
	patient := make(chan error)
	go func() { _, err := p.Login(t.Context(), ownHost, tok, r); patient <- err }()
	giveUp()
	err := <-impatient
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, identity.Unreachable, identity.ReasonOf(err))
	close(release)
	require.NoError(t, <-patient)
	assert.Equal(t, 1, f.count(webIdentity))
}

func TestASessionIsMadeAnewShortlyBeforeItEnds(t *testing.T) {
	f := newFake(t)
	p, r := f.provider(), request(t, f.endpoints)
	login := func() {
		_, err := p.Login(t.Context(), ownHost, token(t), r)
		require.NoError(t, err)
	}
	login()
	f.clock.SetTime(now().Add(sessionLength - 6*time.Minute))
	login()
	assert.Equal(t, 1, f.count(webIdentity), "six minutes before its end it is still used")
	f.clock.SetTime(now().Add(sessionLength - 4*time.Minute))
	login()
	assert.Equal(t, 2, f.count(webIdentity), "four minutes before its end it is not")
}

func TestDifferentIdentitiesShareNoSession(t *testing.T) {
	for name, change := range map[string]func(*identity.Request, *v1alpha1.AWSDefaults){
		"another role":      with(func(s *v1alpha1.AWSDefaults) { s.RoleARN += "2" }),
		"another chain":     with(chain),
		"another region":    with(func(s *v1alpha1.AWSDefaults) { s.Region = "eu-north-1" }),
		"another audience":  with(func(s *v1alpha1.AWSDefaults) { s.Audience = "other" }),
		"another session":   with(func(s *v1alpha1.AWSDefaults) { s.SessionName = "other" }),
		"another account":   as(identity.Job),
		"another namespace": func(r *identity.Request, s *v1alpha1.AWSDefaults) { r.Namespace, s.SessionName = "other", "ci-linux" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			p := f.provider()
			for _, r := range []identity.Request{request(t, f.endpoints), request(t, f.endpoints, change)} {
				_, err := p.Login(t.Context(), ownHost, token(t), r)
				require.NoError(t, err)
			}
			assert.Equal(t, 2, f.count(webIdentity))
		})
	}
}

func TestASessionThatECRDoesNotTakeIsDropped(t *testing.T) {
	for _, code := range []string{"AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException"} {
		t.Run(code, func(t *testing.T) {
			f := newFake(t)
			p, r := f.provider(), request(t, f.endpoints)
			good := f.login(`{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d}]}`, time.Hour)
			f.on(privateLogin, ecrError(http.StatusBadRequest, code))
			_, err := p.Login(t.Context(), ownHost, token(t), r)
			require.ErrorContains(t, err, code)
			f.on(privateLogin, good)
			_, err = p.Login(t.Context(), ownHost, token(t), r)
			require.NoError(t, err)
			assert.Equal(t, 2, f.count(webIdentity))
		})
	}
}

func TestALoginThatIsNotWholeIsAnError(t *testing.T) {
	whole := base64.StdEncoding.EncodeToString([]byte("AWS:" + ecrPassword))
	later := now().Add(time.Hour).Unix()
	for name, tc := range map[string]struct{ body, says string }{
		"no expiry":               {fmt.Sprintf(`{"authorizationData":[{"authorizationToken":%q}]}`, whole), "lacks the login or its expiry"},
		"no login":                {fmt.Sprintf(`{"authorizationData":[{"expiresAt":%d}]}`, later), "lacks the login or its expiry"},
		"no data":                 {`{}`, "lacks the login or its expiry"},
		"an empty list":           {`{"authorizationData":[]}`, "lacks the login or its expiry"},
		"one that ended":          {fmt.Sprintf(`{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d}]}`, whole, now().Unix()), "clock"},
		"one that is not base64":  {fmt.Sprintf(`{"authorizationData":[{"authorizationToken":"hunter2!","expiresAt":%d}]}`, later), "not base64"},
		"one without a colon":     {fmt.Sprintf(`{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d}]}`, base64.StdEncoding.EncodeToString([]byte("hunter2")), later), "user name and a password"},
		"one without a password":  {fmt.Sprintf(`{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d}]}`, base64.StdEncoding.EncodeToString([]byte("AWS:")), later), "user name and a password"},
		"something else entirely": {`<html>hunter2</html>`, "not an answer of AWS"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.on(privateLogin, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(tc.body)) })
			_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
			require.ErrorContains(t, err, tc.says)
			assert.Equal(t, identity.Unreachable, identity.ReasonOf(err))
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestALoginOfAnySizeIsTaken(t *testing.T) {
	f := newFake(t)
	long := strings.Repeat("x", 100_000)
	f.on(privateLogin, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d.5}]}`, base64.StdEncoding.EncodeToString([]byte("AWS:"+long)), now().Add(time.Hour).Unix())
	})
	got, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
	require.NoError(t, err)
	assert.Equal(t, long, got.Password.Reveal())
}

func TestARequestThatCannotLogInAsksNobody(t *testing.T) {
	for name, tc := range map[string]struct {
		host    string
		token   identity.Secret
		request func(f *fake) identity.Request
		says    string
	}{
		"a registry of somebody else": {"ghcr.io", token(t), func(f *fake) identity.Request { return request(t, f.endpoints) }, "ghcr.io"},
		"another partition":           {"111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn", token(t), func(f *fake) identity.Request { return request(t, f.endpoints) }, "partition"},
		"Pod Identity":                {ownHost, token(t), func(f *fake) identity.Request { return request(t, f.endpoints, with(podIdentity)) }, "PodIdentity"},
		"bad settings": {ownHost, token(t), func(f *fake) identity.Request {
			return request(t, f.endpoints, with(func(s *v1alpha1.AWSDefaults) { s.RoleARN = "x" }))
		}, "aws.roleARN"},
		"no token": {ownHost, identity.Secret{}, func(f *fake) identity.Request { return request(t, f.endpoints) }, "ci/linux-runner is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			_, err := f.provider().Login(t.Context(), tc.host, tc.token, tc.request(f))
			require.ErrorContains(t, err, tc.says)
			assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
			assert.Empty(t, f.calls)
		})
	}
}
