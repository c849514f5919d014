// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

func TestFormAndJSONAndBothEndpointsAreTaken(t *testing.T) {
	w := newWorld(t)
	camel := map[string]string{
		"grantType": "urn:ietf:params:oauth:grant-type:token-exchange", "audience": gkeAudience, "subjectToken": w.subject("acme-ci.svc.id.goog"),
		"requestedTokenType": "urn:ietf:params:oauth:token-type:access_token", "subjectTokenType": "urn:ietf:params:oauth:token-type:jwt", "scope": "x",
	}
	for name, got := range map[string]reply{
		"x/oauth2 and Flux": w.form("/v1/token", exchange(stsAudience, w.subject("https:"+stsAudience))),
		"kubelet's plug-in": w.asJSON("/v1/token", "", camel),
		"ESO and CSI":       w.asJSON("/v1/identitybindingtoken", "", exchange(gkeAudience, w.subject("acme-ci.svc.id.goog"))),
	} {
		assert.Equal(t, http.StatusOK, got.status, "%s: %s", name, got.raw)
		assert.True(t, strings.HasPrefix(got.text("access_token"), "ya29."), name)
		assert.InDelta(t, 3600, got.fields["expires_in"], 0, name)
	}
	assert.Equal(t, 2, w.server.Calls(gcp.STS, "Token"))
	assert.Equal(t, 1, w.server.Calls(gcp.STS, "IdentityBindingToken"))
}

func TestATokenOfSTSLivesNoLongerThanWhatItWasTradedFor(t *testing.T) {
	w := newWorld(t)
	got := w.form("/v1/token", exchange(stsAudience, w.subject("https:"+stsAudience, func(s *sim.Subject) { s.Lifetime = 15 * time.Minute })))
	assert.InDelta(t, 900, got.fields["expires_in"], 0)
	w.server.SetLifetimes(gcp.Lifetimes{Federated: time.Minute})
	got = w.form("/v1/token", exchange(stsAudience, w.subject("https:"+stsAudience)))
	assert.InDelta(t, 60, got.fields["expires_in"], 0)
}

func TestSTSRefusesInGooglesWords(t *testing.T) {
	for name, c := range map[string]struct {
		config             func(*gcp.Config)
		change             map[string]string
		subject            func(*sim.Subject)
		audience           string
		wantStatus         int
		wantCode, wantText string
	}{
		"a pool's name as audience (auth #293)":     {audience: "acme-ci.svc.id.goog", wantCode: "invalid_request", wantText: `Invalid value for "audience". This value should be the full resource name`},
		"a project's id in place of its number":     {audience: strings.Replace(stsAudience, "123456789012", "acme-ci", 1), wantCode: "invalid_request", wantText: `Invalid value for "audience"`},
		"a doubled slash (webhook #87)":             {audience: strings.Replace(stsAudience, ".com/", ".com//", 1), wantCode: "invalid_request", wantText: `Invalid value for "audience"`},
		"a provider that does not exist":            {audience: stsAudience + "2", wantCode: "invalid_target", wantText: "because the pool or provider is disabled or deleted or because it doesn't exist"},
		"a provider that is disabled":               {config: func(c *gcp.Config) { c.Providers[0].Disabled = true }, wantCode: "invalid_target", wantText: "disabled"},
		"a cluster that does not exist (ESO #2740)": {audience: gkeAudience + "2", wantStatus: http.StatusNotFound, wantText: "Requested entity was not found"},
		"another audience in the token":             {subject: func(s *sim.Subject) { s.Audience = "sts.amazonaws.com" }, wantCode: "invalid_grant", wantText: "The audience in ID Token [sts.amazonaws.com] does not match the expected audience"},
		"an expired token":                          {subject: func(s *sim.Subject) { s.Issued = s.Issued.Add(-3 * time.Hour) }, wantCode: "invalid_grant", wantText: "is stale to sign-in."},
		"a token of another issuer":                 {config: func(c *gcp.Config) { c.Providers[0].Issuer = "https://other.example" }, wantCode: "invalid_grant", wantText: "The issuer in ID Token " + issuerURL + " does not match"},
		"keys that cannot be read":                  {config: func(c *gcp.Config) { c.Providers[0].JWKS = "http://127.0.0.1:1/" }, wantCode: "invalid_grant", wantText: "Error connecting to the given credential's issuer."},
		"a condition that is not met":               {config: func(c *gcp.Config) { c.Providers[0].Namespaces = []string{"prod"} }, wantCode: "unauthorized_client", wantText: "rejected by the attribute condition"},
		"a subject of more than 127 bytes":          {subject: func(s *sim.Subject) { s.Account = strings.Repeat("a", 104) }, wantCode: "invalid_request", wantText: "exceeds the 127 bytes limit"},
		"no JWT":                                    {change: map[string]string{"subject_token": "x"}, wantCode: "invalid_grant", wantText: "not a valid JWT"},
		"a token with a newline (gcloud)":           {change: map[string]string{"subject_token": "x.y.z\n"}, wantCode: "invalid_grant"},
		"no token":                                  {change: map[string]string{"subject_token": ""}, wantCode: "invalid_request", wantText: "subject_token"},
		"another grant":                             {change: map[string]string{"grant_type": "password"}, wantCode: "unsupported_grant_type"},
		"another kind of token":                     {change: map[string]string{"subject_token_type": "saml"}, wantCode: "invalid_request"},
		"no scope":                                  {change: map[string]string{"scope": ""}, wantCode: "invalid_scope"},
	} {
		t.Run(name, func(t *testing.T) {
			var changes []func(*gcp.Config)
			if c.config != nil {
				changes = append(changes, c.config)
			}
			w := newWorld(t, changes...)
			var subjects []func(*sim.Subject)
			if c.subject != nil {
				subjects = append(subjects, c.subject)
			}
			fields := exchange(stsAudience, w.subject("https:"+stsAudience, subjects...))
			if c.audience != "" {
				fields["audience"] = c.audience
			}
			maps.Copy(fields, c.change)
			got := w.form("/v1/token", fields)
			if c.wantStatus == 0 {
				c.wantStatus = http.StatusBadRequest
			}
			assert.Equal(t, c.wantStatus, got.status, got.raw)
			assert.Equal(t, c.wantCode, got.text("error"))
			assert.Contains(t, got.text("error_description")+got.text("message"), c.wantText)
		})
	}
}

func TestATokenThatIsNotSignedWithTheIssuersKeyIsRefused(t *testing.T) {
	w := newWorld(t)
	forger, err := sim.NewIssuer(issuerURL)
	require.NoError(t, err)
	forged, err := forger.Token(sim.Subject{Namespace: "ci", Account: "job", Audience: "https:" + stsAudience, Issued: w.clock.Now(), Lifetime: time.Hour})
	require.NoError(t, err)
	got := w.form("/v1/token", exchange(stsAudience, forged))
	assert.Equal(t, "invalid_grant", got.text("error"))

	parts := strings.Split(w.subject("https:"+stsAudience), ".")
	other := strings.Split(w.subject("https:"+stsAudience, func(s *sim.Subject) { s.Account = "admin" }), ".")
	got = w.form("/v1/token", exchange(stsAudience, parts[0]+"."+other[1]+"."+parts[2]))
	assert.Equal(t, "invalid_grant", got.text("error"), "another's claims under this signature")
}

func TestIntrospectionTellsWhoseATokenIs(t *testing.T) {
	w := newWorld(t)
	token := w.federated()
	got := w.form("/v1/introspect", map[string]string{"token": token})
	assert.Equal(t, true, got.fields["active"])
	assert.Equal(t, poolMember, got.text("username"))
	w.clock.Step(time.Hour)
	got = w.form("/v1/introspect", map[string]string{"token": token})
	assert.Equal(t, false, got.fields["active"])
}
