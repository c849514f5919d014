// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

const (
	provider  = "projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster"
	gke       = "https://container.googleapis.com/v1/projects/acme-ci/locations/europe-west1/clusters/ci"
	account   = "ci@acme-ci.iam.gserviceaccount.com"
	issuerURL = "https://oidc.acme.example/cluster"
	host      = "europe-west1-docker.pkg.dev"
	images    = "projects/acme-ci/locations/europe-west1/repositories/images"

	stsAudience = "//iam.googleapis.com/" + provider
	gkeAudience = "identitynamespace:acme-ci.svc.id.goog:" + gke

	poolMember = "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/system:serviceaccount:ci:job"
	gkeMember  = "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/acme-ci.svc.id.goog/subject/ns/ci/sa/job"
)

// world is a simulator, its clock and an issuer.
type world struct {
	t      *testing.T
	server *gcp.Server
	url    string
	clock  *clocktesting.FakeClock
	issuer *sim.Issuer
	jwks   string
}

func newWorld(t *testing.T, change ...func(*gcp.Config)) *world {
	t.Helper()
	issuer, err := sim.NewIssuer(issuerURL)
	require.NoError(t, err)
	keys := httptest.NewServer(issuer)
	t.Cleanup(keys.Close)
	w := &world{t: t, clock: clocktesting.NewFakeClock(time.Now().Truncate(time.Second)), issuer: issuer, jwks: keys.URL}
	config := gcp.Config{
		Clock: w.clock,
		Providers: []gcp.Provider{
			{Name: provider, Issuer: issuerURL, JWKS: keys.URL},
			{Name: gke, Issuer: issuerURL, JWKS: keys.URL, Pool: "acme-ci.svc.id.goog", ProjectNumber: "123456789012"},
		},
		ServiceAccounts: map[string]gcp.ServiceAccount{account: {WorkloadIdentityUsers: []string{poolMember, gkeMember}}},
		Repositories: map[string]gcp.Repository{images: {Bindings: map[string][]string{
			"roles/artifactregistry.reader": {"serviceAccount:" + account, gkeMember},
			"roles/artifactregistry.writer": {poolMember},
		}}},
	}
	for _, c := range change {
		c(&config)
	}
	w.server, err = gcp.New(config)
	require.NoError(t, err)
	t.Cleanup(w.server.Close)
	w.url = w.server.Start()
	return w
}

// reply is an answer of the simulator.
type reply struct {
	status int
	header http.Header
	raw    string
	fields map[string]any
}

// text is a field of the reply, or of the error in it.
func (r reply) text(name string) string {
	if inner, ok := r.fields["error"].(map[string]any); ok && name != "error" {
		s, _ := inner[name].(string)
		return s
	}
	s, _ := r.fields[name].(string)
	return s
}

func (w *world) do(request *http.Request, err error) reply {
	w.t.Helper()
	require.NoError(w.t, err)
	got, err := http.DefaultClient.Do(request)
	require.NoError(w.t, err)
	defer got.Body.Close()
	b, err := io.ReadAll(got.Body)
	require.NoError(w.t, err)
	r := reply{status: got.StatusCode, header: got.Header, raw: string(b)}
	_ = json.Unmarshal(b, &r.fields) // What is not JSON is told by raw.
	return r
}

// subject is a token for an audience.
func (w *world) subject(audience string, change ...func(*sim.Subject)) string {
	w.t.Helper()
	s := sim.Subject{Namespace: "ci", Account: "job", Audience: audience, Issued: w.clock.Now(), Lifetime: 2 * time.Hour}
	for _, c := range change {
		c(&s)
	}
	token, err := w.issuer.Token(s)
	require.NoError(w.t, err)
	return token
}

func exchange(audience, token string) map[string]string {
	return map[string]string{
		"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": audience, "subject_token": token,
		"requested_token_type": "urn:ietf:params:oauth:token-type:access_token", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
		"scope": "https://www.googleapis.com/auth/cloud-platform",
	}
}

// form sends a request as Google's client libraries do, asJSON as the Secret operators do.
func (w *world) form(path string, fields map[string]string) reply {
	values := url.Values{}
	for k, v := range fields {
		values.Set(k, v)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+path, strings.NewReader(values.Encode()))
	if err == nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return w.do(request, err)
}

func (w *world) asJSON(path, bearer string, body any) reply {
	b, err := json.Marshal(body)
	require.NoError(w.t, err)
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+path, bytes.NewReader(b))
	if err == nil {
		request.Header.Set("Content-Type", "application/json")
		if bearer != "" {
			request.Header.Set("Authorization", "Bearer "+bearer)
		}
	}
	return w.do(request, err)
}

func (w *world) get(path, bearer string) reply {
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.url+path, nil)
	if err == nil && bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	return w.do(request, err)
}

// federated is a federated access token of the pool.
func (w *world) federated() string {
	w.t.Helper()
	got := w.form("/v1/token", exchange(stsAudience, w.subject("https:"+stsAudience)))
	require.Equal(w.t, http.StatusOK, got.status, got.raw)
	return got.text("access_token")
}

// impersonated is an access token of the Google service account.
func (w *world) impersonated(lifetime string) reply {
	w.t.Helper()
	return w.asJSON("/v1/projects/-/serviceAccounts/"+account+":generateAccessToken", w.federated(),
		map[string]any{"scope": []string{"https://www.googleapis.com/auth/cloud-platform"}, "lifetime": lifetime})
}
