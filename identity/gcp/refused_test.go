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

// A broken is one thing that is set up wrongly at Google.
type broken struct {
	config   func(*gcpsim.Config)
	settings set
	fault    sim.Fault

	wantReason identity.Reason
	want       []string
}

func TestEachRefusalOfGoogleSaysInOneSentenceWhatMendsIt(t *testing.T) {
	provider := func(change func(*gcpsim.Provider)) func(*gcpsim.Config) {
		return func(c *gcpsim.Config) { change(&c.Providers[0]) }
	}
	const update = "gcloud iam workload-identity-pools providers update-oidc cluster --project 123456789012 --location global --workload-identity-pool ci"
	for name, b := range map[string]broken{
		"403 getAccessToken without a binding (auth #340, #426, #455, #526)": {
			config:     func(c *gcpsim.Config) { c.ServiceAccounts[testAccount] = gcpsim.ServiceAccount{} },
			wantReason: identity.Denied,
			want: []string{"iam.serviceAccounts.getAccessToken", "gcloud iam service-accounts add-iam-policy-binding " + testAccount,
				"--role roles/iam.workloadIdentityUser --member '" + principal + "'"},
		},
		"403 getAccessToken of an account that is deleted": {
			config: func(c *gcpsim.Config) { delete(c.ServiceAccounts, testAccount) }, wantReason: identity.Denied, want: []string{"does not exist or it does not let"},
		},
		"403 getAccessToken with a namespace bound in place of the account's name": {
			config: func(c *gcpsim.Config) {
				c.ServiceAccounts[testAccount] = gcpsim.ServiceAccount{WorkloadIdentityUsers: []string{"serviceAccount:acme-ci.svc.id.goog[ci]"}}
			}, wantReason: identity.Denied, want: []string{principal},
		},
		"invalid_target for a provider that does not exist (auth #202, #333, #334)": {
			config:     provider(func(p *gcpsim.Provider) { p.Name = testProvider + "2" }),
			wantReason: identity.Denied, want: []string{"invalid_target", testProvider, "gcp.workloadIdentityProvider"},
		},
		"invalid_target for a provider that is disabled": {
			config: provider(func(p *gcpsim.Provider) { p.Disabled = true }), wantReason: identity.Denied, want: []string{"disabled or deleted"},
		},
		"invalid_request for the wrong form of a provider (auth #211)": {
			fault:      sim.Fault{Status: http.StatusBadRequest, Body: `{"error":"invalid_request","error_description":"Invalid value for \"audience\". This value should be the full resource name of the Identity Provider. See https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token for the list of possible formats."}`},
			wantReason: identity.Invalid, want: []string{"project's number", "projects/123456789012/locations/global"},
		},
		"invalid_grant for an audience that the provider does not allow": {
			config:     provider(func(p *gcpsim.Provider) { p.Audiences = []string{"sts.googleapis.com"} }),
			wantReason: identity.Denied, want: []string{"does not match the expected audience", "https://iam.googleapis.com/" + testProvider, "--allowed-audiences"},
		},
		"invalid_grant for a token that is stale to sign-in": {
			fault: sim.Fault{Kind: sim.ClockSkew, Delay: 24 * time.Hour}, wantReason: identity.Unreachable, want: []string{"stale to sign-in", "clocks"},
		},
		"invalid_grant for the issuer of another cluster": {
			config:     provider(func(p *gcpsim.Provider) { p.Issuer = "https://oidc.acme.example/old" }),
			wantReason: identity.Denied, want: []string{"does not match the expected ones", update + " --issuer-uri " + testIssuer},
		},
		"invalid_grant for keys that Google cannot read": {
			config:     provider(func(p *gcpsim.Provider) { p.JWKS = "http://127.0.0.1:1/jwks" }),
			wantReason: identity.Denied, want: []string{"kubectl get --raw /openid/v1/jwks", update + " --jwk-json-path jwks.json"},
		},
		"unauthorized_client for an attribute condition": {
			config:     provider(func(p *gcpsim.Provider) { p.Namespaces = []string{"other"} }),
			wantReason: identity.Denied, want: []string{"attribute condition", "system:serviceaccount:ci:build-job"},
		},
		"404 with no reason for the wrong name of a cluster (ESO #2740, #2754)": {
			settings:   set{"workloadIdentityProvider": testCluster + "2"},
			wantReason: identity.Denied, want: []string{"NOT_FOUND: Requested entity was not found", "project, location and name", testCluster + "2"},
		},
		"a lifetime that the organization does not allow": {
			settings:   set{"accessTokenLifetime": "2h"},
			wantReason: identity.Denied, want: []string{"constraints/iam.allowServiceAccountCredentialLifetimeExtension", testAccount, "gcp.accessTokenLifetime"},
		},
		"an API that is not switched on": {
			fault:      sim.Fault{Service: gcpsim.IAMCredentials, Status: http.StatusForbidden, Body: `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"IAM Service Account Credentials API has not been used in project 123456789012 before or it is disabled."}}`},
			wantReason: identity.Denied, want: []string{"gcloud services enable iamcredentials.googleapis.com --project acme-ci"},
		},
		"a refusal that is not known": {
			fault: sim.Fault{Status: http.StatusForbidden, Body: `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"something new"}}`}, wantReason: identity.Denied, want: []string{"something new"},
		},
		"a throttled STS":     {fault: sim.Fault{Kind: sim.Throttle}, wantReason: identity.Unreachable, want: []string{"Quota exceeded"}},
		"a broken STS":        {fault: sim.Fault{Kind: sim.Broken}, wantReason: identity.Unreachable, want: []string{"INTERNAL"}},
		"no STS":              {fault: sim.Fault{Kind: sim.HangUp}, wantReason: identity.Unreachable, want: []string{"EOF"}},
		"a proxy's page":      {fault: sim.Fault{Status: http.StatusBadGateway, Body: "<html>bad gateway</html>"}, wantReason: identity.Unreachable, want: []string{"HTTP 502", "not an answer of Google"}},
		"a throttled account": {fault: sim.Fault{Service: gcpsim.IAMCredentials, Kind: sim.Throttle}, wantReason: identity.Unreachable, want: []string{"iamcredentials for " + testAccount}},
	} {
		t.Run(name, func(t *testing.T) {
			err := b.login(t)
			require.Error(t, err)
			assert.Equal(t, b.wantReason, identity.ReasonOf(err), "%v", err)
			for _, want := range b.want {
				assert.ErrorContains(t, err, want)
			}
			assert.NotContains(t, err.Error(), "eyJ", "no token in an error")
			assert.NotContains(t, err.Error(), "\n", "one line")
		})
	}
}

// login tries a login where something is broken.
func (b broken) login(t *testing.T) error {
	t.Helper()
	var changes []func(*gcpsim.Config)
	if b.config != nil {
		changes = append(changes, b.config)
	}
	c := newCloud(t, changes...)
	if b.fault != (sim.Fault{}) {
		if b.fault.Kind == "" {
			b.fault.Kind = sim.Answer
		}
		require.NoError(t, c.server.Inject(b.fault))
	}
	r := federation(t, c.here(), b.settings)
	token := c.token(r)
	_, err := gcp.New().Login(t.Context(), host, token, r)
	if err != nil {
		assert.NotContains(t, err.Error(), token.Reveal())
	}
	return err
}

func TestACloudThatQuotesTheTokenDoesNotGetItIntoAnError(t *testing.T) {
	c := newCloud(t)
	r := federation(t, c.here())
	token := c.token(r)
	require.NoError(t, c.server.Inject(sim.Fault{Kind: sim.Answer, Status: http.StatusBadRequest,
		Body: `{"error":"invalid_grant","error_description":"cannot parse ` + token.Reveal() + ` and ya29.d.abc"}`}))
	_, err := gcp.New().Login(t.Context(), host, token, r)
	require.ErrorContains(t, err, "[redacted]")
	assert.NotContains(t, err.Error(), token.Reveal())
	assert.NotContains(t, err.Error(), "ya29")
}
