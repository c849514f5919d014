// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

func names(links []identity.Link) []string {
	var all []string
	for _, l := range links {
		if !l.OK {
			l.Name += "!"
		}
		all = append(all, l.Name)
	}
	return all
}

func TestAProbeWalksTheChainAndStopsAtTheBrokenLink(t *testing.T) {
	repos := set{"repositories": []string{testRepo}}
	direct := set{"serviceAccount": nil, "projectID": "acme-ci", "repositories": []string{testRepo}}
	for name, c := range map[string]struct {
		config     func(*gcpsim.Config)
		settings   set
		subject    sim.Subject
		want       []string
		wantReason identity.Reason
	}{
		"all is well":                  {settings: repos, want: []string{"token", "sts", "impersonation", "repository"}},
		"all is well without account":  {settings: direct, want: []string{"token", "sts", "repository"}},
		"a token of another account":   {settings: repos, subject: sim.Subject{Account: "other"}, want: []string{"token!"}, wantReason: identity.Invalid},
		"a token for another audience": {settings: repos, subject: sim.Subject{Audience: "sts.amazonaws.com"}, want: []string{"token!"}, wantReason: identity.Invalid},
		"an expired token":             {settings: repos, subject: sim.Subject{Issued: time.Now().Add(-3 * time.Hour)}, want: []string{"token!"}, wantReason: identity.Unreachable},
		"a provider that is disabled": {settings: repos, config: func(c *gcpsim.Config) { c.Providers[0].Disabled = true },
			want: []string{"token", "sts!"}, wantReason: identity.Denied},
		"an account without a binding": {settings: repos, config: func(c *gcpsim.Config) { delete(c.ServiceAccounts, testAccount) },
			want: []string{"token", "sts", "impersonation!"}, wantReason: identity.Denied},
		"a repository that may not be read": {settings: repos, config: func(c *gcpsim.Config) { clear(c.Repositories) },
			want: []string{"token", "sts", "impersonation", "repository!"}, wantReason: identity.Denied},
	} {
		t.Run(name, func(t *testing.T) {
			var changes []func(*gcpsim.Config)
			if c.config != nil {
				changes = append(changes, c.config)
			}
			world := newCloud(t, changes...)
			r := federation(t, world.here(), c.settings)
			links, err := gcp.New().Probe(t.Context(), world.sign(filled(c.subject)), r)
			assert.Equal(t, c.want, names(links))
			for _, l := range links {
				assert.NotEmpty(t, l.Detail)
				assert.NotContains(t, l.Detail, "eyJ")
			}
			if c.wantReason == "" {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Equal(t, c.wantReason, identity.ReasonOf(err))
		})
	}
}

// filled is the subject of the job's account where nothing else is said.
func filled(s sim.Subject) sim.Subject {
	if s.Account == "" {
		s.Account = "build-job"
	}
	if s.Audience == "" {
		s.Audience = "https://iam.googleapis.com/" + testProvider
	}
	if s.Issued.IsZero() {
		s.Issued = time.Now()
	}
	s.Namespace, s.Lifetime = "ci", 2*time.Hour
	return s
}

func TestTheIssuerThatTheProviderKnowsHasToBeTheTokensByteForByte(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here())
	r.Issuer += "/"
	_, err := gcp.New().Probe(t.Context(), c.sign(filled(sim.Subject{})), r)
	assert.Equal(t, identity.Denied, identity.ReasonOf(err))
	assert.ErrorContains(t, err, "byte for byte")
}

func TestARepositorySaysWhichPermissionIsMissing(t *testing.T) {
	const member = "serviceAccount:" + testAccount
	grant := "gcloud artifacts repositories add-iam-policy-binding images --project acme-ci --location europe-west1 --role roles/artifactregistry.reader --member '" + member + "'"
	for name, c := range map[string]struct {
		repository *gcpsim.Repository
		fault      sim.Fault
		want       []string
		wantReason identity.Reason
	}{
		"no role, or no repository: Google does not tell (crossplane #3023, berglas #128)": {
			want: []string{testRepo, "artifactregistry.repositories.downloadArtifacts", "or the repository does not exist", grant}, wantReason: identity.Denied},
		"may be seen, not read": {
			repository: &gcpsim.Repository{Bindings: map[string][]string{"artifactregistry.repositories.get": {member}}},
			want:       []string{"permission artifactregistry.repositories.downloadArtifacts is missing", grant}, wantReason: identity.Denied},
		"may be read, not seen": {
			repository: &gcpsim.Repository{Bindings: map[string][]string{"artifactregistry.repositories.downloadArtifacts": {member}}}},
		"of another format": {
			repository: &gcpsim.Repository{Format: "MAVEN", Bindings: map[string][]string{"roles/artifactregistry.reader": {member}}},
			want:       []string{"MAVEN", "DOCKER"}, wantReason: identity.Invalid},
		"does not exist, and the caller may know it": {
			fault: sim.Fault{Kind: sim.Answer, Status: http.StatusNotFound, Body: `{"error":{"code":404,"status":"NOT_FOUND","message":"Requested entity was not found."}}`},
			want:  []string{"does not exist", "gcp.repositories"}, wantReason: identity.Denied},
		"takes no federated tokens": {
			fault: sim.Fault{Kind: sim.Answer, Status: http.StatusUnauthorized, Body: `{"error":{"code":401,"status":"UNAUTHENTICATED","message":"Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential."}}`},
			want:  []string{"Expected OAuth 2 access token", "gcp.serviceAccount"}, wantReason: identity.Denied},
		"an API that is not switched on": {
			fault: sim.Fault{Kind: sim.Answer, Status: http.StatusForbidden, Body: `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"Artifact Registry API has not been used in project acme-ci before or it is disabled."}}`},
			want:  []string{"gcloud services enable artifactregistry.googleapis.com"}, wantReason: identity.Denied},
		"is throttled": {fault: sim.Fault{Kind: sim.Throttle}, want: []string{"Quota exceeded"}, wantReason: identity.Unreachable},
		"is broken":    {fault: sim.Fault{Kind: sim.Broken}, want: []string{testRepo}, wantReason: identity.Unreachable},
		"hangs up":     {fault: sim.Fault{Kind: sim.HangUp}, want: []string{testRepo}, wantReason: identity.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			world := newCloud(t, func(config *gcpsim.Config) {
				clear(config.Repositories)
				if c.repository != nil {
					config.Repositories[imagesRepo] = *c.repository
				}
			})
			if c.fault.Kind != "" {
				c.fault.Service = gcpsim.ArtifactRegistry
				require.NoError(t, world.server.Inject(c.fault))
			}
			r := federation(t, world.here(), set{"repositories": []string{testRepo}})
			_, err := gcp.New().Probe(t.Context(), world.token(r), r)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Equal(t, c.wantReason, identity.ReasonOf(err), "%v", err)
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "ya29")
		})
	}
}
