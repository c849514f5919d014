// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEmailsOfAllKindsOfServiceAccountsAreTaken(t *testing.T) {
	for email, wantProject := range map[string]string{
		"ci@acme-ci.iam.gserviceaccount.com":                                   "acme-ci",
		"ci@acme-ci.example.com.iam.gserviceaccount.com":                       "example.com:acme-ci",
		"ci@acme-ci.eu0.iam.gserviceaccount.com":                               "eu0:acme-ci",
		"123456789012-compute@developer.gserviceaccount.com":                   "",
		"acme-ci@appspot.gserviceaccount.com":                                  "acme-ci",
		"acme-ci.example.com@appspot.gserviceaccount.com":                      "example.com:acme-ci",
		"123456789012@cloudservices.gserviceaccount.com":                       "",
		"123456789012@cloudbuild.gserviceaccount.com":                          "",
		"service-123456789012@gcp-sa-artifactregistry.iam.gserviceaccount.com": "gcp-sa-artifactregistry",
	} {
		got, err := parseAccount(email)
		require.NoError(t, err, email)
		assert.Equal(t, account{email: email, project: wantProject}, got)
	}
}

func TestWhatIsNotAServiceAccountIsRefused(t *testing.T) {
	for _, email := range []string{"", "ci", "ci@acme.example", "CI@acme-ci.iam.gserviceaccount.com", "ci@gserviceaccount.com", "ci@evil.example/x.iam.gserviceaccount.com",
		"ci@acme-ci.iam.gserviceaccount.com.evil.example", "a b@acme-ci.iam.gserviceaccount.com", "ci@-.iam.gserviceaccount.com", "ci@acme-ci.iam.gserviceaccountXcom"} {
		_, err := parseAccount(email)
		assert.Error(t, err, email)
	}
}

func TestHostsOfTheRegistriesOfGoogle(t *testing.T) {
	for host, want := range map[string]registry{
		"europe-west1-docker.pkg.dev":            {location: "europe-west1"},
		"northamerica-northeast1-docker.pkg.dev": {location: "northamerica-northeast1"},
		"us-docker.pkg.dev":                      {location: "us"},
		"europe-docker.pkg.dev":                  {location: "europe"},
		"asia-docker.pkg.dev:443":                {location: "asia"},
		"docker.us-east1.rep.pkg.dev":            {location: "us-east1"},
		"gcr.io":                                 {location: "us", repository: "gcr.io"},
		"us.gcr.io":                              {location: "us", repository: "us.gcr.io"},
		"eu.gcr.io":                              {location: "europe", repository: "eu.gcr.io"},
		"asia.gcr.io":                            {location: "asia", repository: "asia.gcr.io"},
		"docker.s3nsregistry.fr":                 {location: "u-france-east1"},
	} {
		got, ok := parseRegistry(host)
		want.host = host
		assert.True(t, ok, host)
		assert.Equal(t, want, got)
	}
}

func TestHostsThatAreNotOfGoogle(t *testing.T) {
	for _, host := range []string{"", "docker.io", "ghcr.io", "*.pkg.dev", "*.gcr.io", "pkg.dev", "docker.pkg.dev", "evilgcr.io", "gcr.io.evil.example",
		"europe-west1-python.pkg.dev", "x.europe-west1-docker.pkg.dev", "europe-west1-docker.pkg.dev.evil.example", "europe-west1-docker.pkg.dev/acme", "https://gcr.io",
		"gcr.io:http", "docker.us.rep.pkg.dev", "k8s.gcr.io.", "123456789012.dkr.ecr.eu-west-1.amazonaws.com"} {
		_, ok := parseRegistry(host)
		assert.False(t, ok, host)
	}
}

func TestRepositoryPathsBecomeNamesOfArtifactRegistry(t *testing.T) {
	for path, want := range map[string]string{
		testHost + "/acme-ci/images":             "projects/acme-ci/locations/europe-west1/repositories/images",
		testHost + "/example.com/acme-ci/images": "projects/example.com:acme-ci/locations/europe-west1/repositories/images",
		"docker.us-east1.rep.pkg.dev/acme-ci/a":  "projects/acme-ci/locations/us-east1/repositories/a",
		"gcr.io/acme-ci":                         "projects/acme-ci/locations/us/repositories/gcr.io",
		"eu.gcr.io/example.com/acme-ci":          "projects/example.com:acme-ci/locations/europe/repositories/eu.gcr.io",
	} {
		got, err := parseRepository(path)
		require.NoError(t, err, path)
		assert.Equal(t, want, got.name())
	}
	for _, path := range []string{"", testHost, testHost + "/acme-ci", testHost + "/acme-ci/images/app", testHost + "/acme-ci/images:tag", "gcr.io", "gcr.io/acme-ci/app", "ghcr.io/a/b", testHost + "//images"} {
		_, err := parseRepository(path)
		assert.Error(t, err, path)
	}
}

const testHost = "europe-west1-docker.pkg.dev"

func TestProvidersOfAllKindsHaveTheAudiencesThatGoogleWants(t *testing.T) {
	for name, want := range map[string]struct{ sts, token, subject string }{
		exampleProviderOfTest: {"//iam.googleapis.com/" + exampleProviderOfTest, "https://iam.googleapis.com/" + exampleProviderOfTest, "system:serviceaccount:ci:job"},
		exampleCluster:        {"identitynamespace:acme-ci.svc.id.goog:" + exampleCluster, "acme-ci.svc.id.goog", "ns/ci/sa/job"},
		"https://gkehub.googleapis.com/projects/acme-fleet/locations/global/memberships/ci": {
			"identitynamespace:acme-fleet.svc.id.goog:https://gkehub.googleapis.com/projects/acme-fleet/locations/global/memberships/ci", "acme-fleet.svc.id.goog", "ns/ci/sa/job"},
	} {
		got, err := parseWorkloadProvider(name)
		require.NoError(t, err)
		assert.Equal(t, want.sts, got.stsAudience())
		assert.Equal(t, want.token, got.tokenAudience())
		assert.Equal(t, want.subject, got.subject("ci", "job"))
	}
}

const exampleProviderOfTest = "projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster"

func FuzzParseAccount(f *testing.F) {
	f.Add("ci@acme-ci.example.com.iam.gserviceaccount.com")
	f.Add("acme-ci@appspot.gserviceaccount.com")
	f.Add("@.iam.gserviceaccount.com")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parseAccount(s)
		if err == nil {
			assert.Equal(t, s, a.email)
			assert.True(t, strings.HasSuffix(s, ".gserviceaccount.com") && !strings.ContainsAny(s, "/?# '\"\n"), "it goes into URLs and shell commands")
			return
		}
		assert.NotEmpty(t, err.Error())
	})
}

func FuzzParseRepository(f *testing.F) {
	f.Add("europe-west1-docker.pkg.dev/acme-ci/images")
	f.Add("gcr.io/example.com/acme-ci")
	f.Add("gcr.io/")
	f.Fuzz(func(t *testing.T, s string) {
		r, err := parseRepository(s)
		if err != nil {
			return
		}
		assert.Equal(t, 5, strings.Count(r.name(), "/"), "no path can name another resource: %s", r.name())
		assert.NotContains(t, r.name(), "..")
		assert.NotContains(t, r.name(), "'")
	})
}

func FuzzParseWorkloadProvider(f *testing.F) {
	f.Add(exampleProviderOfTest)
	f.Add(exampleCluster)
	f.Add("acme-ci.svc.id.goog")
	f.Fuzz(func(t *testing.T, s string) {
		w, err := parseWorkloadProvider(s)
		if err != nil {
			return
		}
		assert.NotEqual(t, noProvider, w.kind)
		assert.False(t, strings.ContainsAny(w.stsAudience()+w.subject("ns", "sa"), " '\"\n\\$"), "it goes into a JSON file and shell commands")
	})
}

func FuzzDecodeError(f *testing.F) {
	f.Add([]byte(`{"error":"invalid_grant","error_description":"x"}`))
	f.Add([]byte(`{"error":{"message":"x","status":"PERMISSION_DENIED"}}`))
	f.Add([]byte(`<html>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		failed := failureOf(answer{status: 400, body: body}, assert.AnError)
		assert.LessOrEqual(t, len(failed.Message), 300+len(" ..."))
		assert.NotContains(t, failed.String(), "\n\n")
	})
}
