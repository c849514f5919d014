// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
)

func TestAMistakeIsNamedWithFieldValueAndWhatIsRight(t *testing.T) {
	const direct = "serviceAccount"
	for name, c := range map[string]struct {
		onGKE     bool
		change    set
		wantField string
		want      []string
	}{
		"an account that is a resource name":        {change: set{"serviceAccount": "projects/-/serviceAccounts/" + testAccount}, wantField: "gcp.serviceAccount", want: []string{"write the e-mail"}},
		"an account that is an IAM member":          {change: set{"serviceAccount": "serviceAccount:" + testAccount}, wantField: "gcp.serviceAccount", want: []string{`without "serviceAccount:"`}},
		"a person in place of an account":           {change: set{"serviceAccount": "someone@acme.example"}, wantField: "gcp.serviceAccount", want: []string{"someone@acme.example", testAccount}},
		"a pool in place of a provider (auth #293)": {change: set{"workloadIdentityProvider": "acme-ci.svc.id.goog"}, wantField: "gcp.workloadIdentityProvider", want: []string{"acme-ci.svc.id.goog", "workload pool", "projects/123456789012"}},
		"a project id in a provider's name (auth #211)": {change: set{"workloadIdentityProvider": strings.Replace(testProvider, "123456789012", "acme-ci", 1)},
			wantField: "gcp.workloadIdentityProvider", want: []string{`project's id "acme-ci"`, "number", "gcloud projects describe acme-ci"}},
		"a provider in a region":             {change: set{"workloadIdentityProvider": strings.Replace(testProvider, "global", "europe-west1", 1)}, wantField: "gcp.workloadIdentityProvider", want: []string{"global"}},
		"a provider with host and slashes":   {change: set{"workloadIdentityProvider": "//iam.googleapis.com/" + testProvider}, wantField: "gcp.workloadIdentityProvider", want: []string{`from "projects/" on`}},
		"only one of the pair (webhook #87)": {change: set{"workloadIdentityProvider": nil, "mode": "Federation"}, wantField: "gcp.workloadIdentityProvider", want: []string{"is not set", testProvider[:21]}},
		"neither provider nor GKE":           {change: set{"workloadIdentityProvider": nil}, wantField: "gcp.workloadIdentityProvider", want: []string{testIssuer, "not a GKE cluster"}},
		"an unknown mode":                    {change: set{"mode": "Magic"}, wantField: "gcp.mode", want: []string{"Magic", "Metadata", "Federation"}},
		"Metadata with a pool's provider":    {change: set{"mode": "Metadata"}, wantField: "gcp.mode", want: []string{testProvider, "use Federation"}},
		"a pool beside a provider":           {change: set{"workloadPool": "acme-ci.svc.id.goog"}, wantField: "gcp.workloadPool", want: []string{"acme-ci.svc.id.goog", `"ci"`}},
		"no project (webhook #12)":           {change: set{direct: nil}, wantField: "gcp.projectID", want: []string{"is not set", "acme-ci"}},
		"no project in the e-mail":           {change: set{direct: "123-compute@developer.gserviceaccount.com"}, wantField: "gcp.projectID", want: []string{"123-compute", "does not tell it"}},
		"a project number as id":             {change: set{"projectID": "123456789012"}, wantField: "gcp.projectID", want: []string{"123456789012", "numbers"}},
		"a zone as region":                   {change: set{"region": "europe-west1-b"}, wantField: "gcp.region", want: []string{"europe-west1-b", "zones"}},
		"a token that lives too long":        {change: set{"tokenLifetime": "48h"}, wantField: "gcp.tokenLifetime", want: []string{"48h0m0s", "24h"}},
		"an access token that lives too long": {change: set{"accessTokenLifetime": "13h"}, wantField: "gcp.accessTokenLifetime",
			want: []string{"13h0m0s", "12h"}},
		"an access token's life without an account": {change: set{direct: nil, "projectID": "acme-ci", "accessTokenLifetime": "2h"}, wantField: "gcp.accessTokenLifetime", want: []string{"serviceAccount only"}},
		"a blank in the audience":                   {change: set{"audience": "a b"}, wantField: "gcp.audience", want: []string{"a b", "--allowed-audiences"}},
		"another audience than a cluster's pool":    {onGKE: true, change: set{"audience": "sts.googleapis.com"}, wantField: "gcp.audience", want: []string{"acme-ci.svc.id.goog"}},
		"an endpoint with a path":                   {change: set{"endpoints": set{"sts": "https://sts.example/v1/token"}}, wantField: "gcp.endpoints.sts", want: []string{"without path"}},
		"an endpoint with a password":               {change: set{"endpoints": set{"sts": "https://user:secret@sts.example"}}, wantField: "gcp.endpoints.sts", want: []string{"user name"}},
		"an image in place of a repository":         {change: set{"repositories": []string{testRepo + "/app"}}, wantField: "gcp.repositories", want: []string{"no image"}},
		"a repository elsewhere":                    {change: set{"repositories": []string{"ghcr.io/acme/app"}}, wantField: "gcp.repositories", want: []string{"ghcr.io"}},
		"a node selector with federation":           {change: set{"nodeSelector": "Always"}, wantField: "gcp.nodeSelector", want: []string{"Metadata only"}},
		"pulls by the kubelet with federation":      {change: set{"imagePull": true}, wantField: "gcp.imagePull", want: []string{"registry Secret"}},
		"a principal as e-mail beside an account":   {onGKE: true, change: set{"principalIDAsEmail": true}, wantField: "gcp.principalIDAsEmail", want: []string{"without serviceAccount"}},
		"an unknown node selector":                  {onGKE: true, change: set{"nodeSelector": "Auto"}, wantField: "gcp.nodeSelector", want: []string{"Auto", "Never", "Always"}},
		"a setting that does not exist":             {change: set{"serviceAcount": "x"}, wantField: "gcp", want: []string{"serviceAcount"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := federation(t, c.change)
			if c.onGKE {
				r = onGKE(t, c.change)
			}
			problems := gcp.New().Validate(r)
			require.NotEmpty(t, problems)
			i := -1
			for j, p := range problems {
				if p.Field == c.wantField {
					i = j
				}
			}
			require.GreaterOrEqual(t, i, 0, "problems: %v", problems)
			for _, want := range c.want {
				assert.Contains(t, problems[i].Message, want)
			}
			assert.NotContains(t, problems[i].Message, "secret@")
			_, err := gcp.New().Plan(r)
			assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
		})
	}
}

func TestASubjectThatGoogleDoesNotTakeIsRefusedBeforeAnythingIsMade(t *testing.T) {
	r := federation(t)
	r.Namespace, r.Accounts.Job = strings.Repeat("n", 52), strings.Repeat("j", 52)
	assert.Empty(t, gcp.New().Validate(r), "104 characters of namespace and name are the most")
	r.Accounts.Job += "j"
	problems := gcp.New().Validate(r)
	require.Len(t, problems, 1)
	assert.Equal(t, "serviceAccounts", problems[0].Field)
	assert.Contains(t, problems[0].Message, "128 characters")
}

func TestADirectPrincipalOfAnUnknownClusterHasNoName(t *testing.T) {
	r := onGKE(t, set{"serviceAccount": nil})
	r.Issuer = ""
	problems := gcp.New().Validate(r)
	require.Len(t, problems, 1)
	assert.Equal(t, "gcp.workloadIdentityProvider", problems[0].Field)
}

func TestRegistriesWithoutAKnownClusterAreRefused(t *testing.T) {
	r := onGKE(t)
	r.Issuer, r.Registries = "", []string{"gcr.io"}
	problems := gcp.New().Validate(r)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Message, `"gcr.io" cannot be logged in to`)
	r.Registries, r.ImageHosts = nil, []string{"gcr.io"}
	plan, err := gcp.New().Plan(r)
	require.NoError(t, err)
	assert.Empty(t, plan.Registries, "nobody asked for it: the nodes pull")
}
