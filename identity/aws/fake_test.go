// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
)

// What the fake gives out. None of it may be seen in an error.
const (
	secretKey     = "secret-key-hunter2"
	sessionToken  = "session-token-hunter2"
	ecrPassword   = "ecr:password:hunter2"
	webIdentity   = "AssumeRoleWithWebIdentity"
	assumeRole    = "AssumeRole"
	privateLogin  = "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"
	publicLogin   = "SpencerFrontendService.GetAuthorizationToken"
	sessionLength = time.Hour
)

// A call is what the fake was asked.
type call struct {
	action, host, auth string
	form               map[string][]string
}

// fake is AWS on loopback: it answers by script, in AWS's own formats, and keeps a list of the calls.
type fake struct {
	*httptest.Server
	clock *clocktesting.FakePassiveClock

	mu      sync.Mutex
	calls   []call
	answers map[string]http.HandlerFunc
}

func newFake(t *testing.T) *fake {
	f := &fake{clock: clocktesting.NewFakePassiveClock(now()), answers: map[string]http.HandlerFunc{}}
	f.answers[webIdentity] = f.session(webIdentity)
	f.answers[assumeRole] = f.session(assumeRole)
	f.answers[privateLogin] = f.login(`{"authorizationData":[{"authorizationToken":%q,"expiresAt":%d}]}`, 12*time.Hour)
	f.answers[publicLogin] = f.login(`{"authorizationData":{"authorizationToken":%q,"expiresAt":%d}}`, 12*time.Hour)
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	action := r.PostForm.Get("Action")
	if action == "" {
		action = r.Header.Get("X-Amz-Target")
	}
	f.mu.Lock()
	f.calls = append(f.calls, call{action: action, host: r.Host, auth: r.Header.Get("Authorization"), form: r.PostForm})
	answer := f.answers[action]
	f.mu.Unlock()
	if answer == nil {
		http.Error(w, "no script for "+action, http.StatusNotImplemented)
		return
	}
	answer(w, r)
}

// on scripts the answer to an action.
func (f *fake) on(action string, answer http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[action] = answer
}

// count is how often an action was called.
func (f *fake) count(action string) int { return len(f.called(action)) }

func (f *fake) called(action string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []call
	for _, c := range f.calls {
		if c.action == action {
			found = append(found, c)
		}
	}
	return found
}

// session answers with keys that live for sessionLength.
func (f *fake) session(action string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials>
<AccessKeyId>ASIAFAKE</AccessKeyId><SecretAccessKey>%[2]s</SecretAccessKey><SessionToken>%[3]s</SessionToken><Expiration>%[4]s</Expiration>
</Credentials></%[1]sResult></%[1]sResponse>`, action, secretKey, sessionToken, f.clock.Now().Add(sessionLength).Format(time.RFC3339))
	}
}

// login answers with a registry login that lives so long.
func (f *fake) login(format string, life time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		_, _ = fmt.Fprintf(w, format, base64.StdEncoding.EncodeToString([]byte("AWS:"+ecrPassword)), f.clock.Now().Add(life).Unix())
	}
}

// stsError is an error of STS.
func stsError(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>request-id-1</RequestId></ErrorResponse>`, code, message)
	}
}

// ecrError is an error of ECR.
func ecrError(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"__type":%q,"message":"as scripted"}`, code)
	}
}

// provider is one whose clock is the fake's and whose client leads every host to the fake, so that no test can reach AWS.
func (f *fake) provider() *aws.Provider {
	return aws.New(aws.WithClock(f.clock), aws.WithHTTPClient(&http.Client{Transport: redirect{f.Listener.Addr().String(), f.Client().Transport}}))
}

// endpoints are settings that name the fake.
func (f *fake) endpoints(_ *identity.Request, s *v1alpha1.AWSDefaults) {
	s.Endpoints = v1alpha1.AWSEndpoints{STS: f.URL, ECR: f.URL, ECRPublic: f.URL}
}

// redirect is a transport that leads all hosts to one address and leaves the Host header.
type redirect struct {
	address string
	next    http.RoundTripper
}

func (d redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	if strings.Contains(r.URL.Path, "/.well-known/") || r.Method == http.MethodGet {
		return nil, fmt.Errorf("no such host")
	}
	r.URL.Scheme, r.URL.Host = "http", d.address
	return d.next.RoundTrip(r)
}
