// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// Where things are below the identity directory.
const (
	tokenFile      = identity.Dir + "/gcp/token"
	credentialFile = identity.Dir + "/gcp/credentials.json"
)

// gcloudDir is gcloud's own directory. gcloud keeps a database in it and ends with "unable to open database file" if it cannot
// write there, which a home directory of another user, or one that is mounted, does not let it.
const (
	gcloudDir    = "/var/run/runner-identity-gcloud"
	gcloudVolume = "runner-identity-gcloud"
)

const jwtType = "urn:ietf:params:oauth:token-type:jwt"

// federate gives pods a token, and the file that says how to trade it.
func (s settings) federate(p *identity.Plan, targets identity.Target) error {
	content, err := s.credentials()
	if err != nil {
		return err
	}
	p.Tokens = []identity.Token{{Path: tokenFile, Audience: s.Audience, Lifetime: s.lifetime, For: targets}}
	p.Dirs = []identity.EmptyDir{{Path: gcloudDir, Volume: gcloudVolume, For: targets}}
	p.Files = []identity.File{{Path: credentialFile, Content: content, For: targets}}
	e := env{target: targets}
	e.add("GOOGLE_APPLICATION_CREDENTIALS", credentialFile)
	// gcloud reads its own variable only.
	e.add("CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE", credentialFile)
	e.add("CLOUDSDK_CONFIG", gcloudDir)
	e.project(s)
	e.add("GOOGLE_CLOUD_QUOTA_PROJECT", s.QuotaProject)
	e.add("CLOUDSDK_BILLING_QUOTA_PROJECT", s.QuotaProject)
	p.Env = e.vars
	return nil
}

// credentialDocument is a file of type external_account, with the fields in the order in which gcloud writes them.
type credentialDocument struct {
	UniverseDomain   string `json:"universe_domain"`
	Type             string `json:"type"`
	Audience         string `json:"audience"`
	SubjectTokenType string `json:"subject_token_type"`
	TokenURL         string `json:"token_url"`
	// TokenInfoURL is where gcloud asks who it is. With impersonation the e-mail is in the next URL.
	TokenInfoURL     string                 `json:"token_info_url,omitempty"`
	CredentialSource credentialSource       `json:"credential_source"`
	ImpersonationURL string                 `json:"service_account_impersonation_url,omitempty"`
	Impersonation    *impersonationDocument `json:"service_account_impersonation,omitempty"`
	QuotaProject     string                 `json:"quota_project_id,omitempty"`
}

type credentialSource struct {
	File string `json:"file"`
}

type impersonationDocument struct {
	Lifetime int `json:"token_lifetime_seconds"`
}

// credentials is the credential file's content. There is no secret in it.
func (s settings) credentials() (string, error) {
	d := credentialDocument{
		UniverseDomain:   s.UniverseDomain,
		Type:             "external_account",
		Audience:         s.provider.stsAudience(),
		SubjectTokenType: jwtType,
		TokenURL:         s.tokenURL(),
		CredentialSource: credentialSource{File: tokenFile},
		ImpersonationURL: s.impersonationURL(),
		QuotaProject:     s.QuotaProject,
	}
	if s.direct() {
		d.TokenInfoURL = s.endpoint(s.Endpoints.STS, "sts") + "/v1/introspect"
	}
	if s.accessLifetime != 0 {
		d.Impersonation = &impersonationDocument{Lifetime: seconds(s.accessLifetime)}
	}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return "", identity.Errorf(identity.Invalid, "credential file: %w", err)
	}
	return string(b) + "\n", nil
}

func (s settings) tokenURL() string { return s.endpoint(s.Endpoints.STS, "sts") + "/v1/token" }

// impersonationURL is empty if there is no Google service account.
func (s settings) impersonationURL() string {
	if s.direct() {
		return ""
	}
	return fmt.Sprintf("%s/v1/projects/-/serviceAccounts/%s:generateAccessToken",
		s.endpoint(s.Endpoints.IAMCredentials, "iamcredentials"), s.account.email)
}

// endpoint is the base URL of a service, without a slash at its end: a doubled one makes STS refuse what follows.
func (s settings) endpoint(override, service string) string {
	return strings.TrimRight(cmp.Or(override, "https://"+service+"."+s.UniverseDomain), "/")
}
