// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
)

// ARC #2992, #2754, #3745, #3963: in container mode job pods run as the namespace's default account, and kaniko takes whatever
// credentials are there. The job has an account, variables and a token of its own, and the runner none of them.
func TestAJobHasItsOwnIdentityAndTheRunnerThatMayMakePodsHasNone(t *testing.T) {
	for name, r := range map[string]identity.Request{"federation": federation(t), "metadata": onGKE(t)} {
		t.Run(name, func(t *testing.T) {
			r.Registries = []string{host}
			plan, err := gcp.New().Plan(r)
			require.NoError(t, err)
			b, err := json.Marshal(plan)
			require.NoError(t, err)
			assert.NotContains(t, string(b), `"for":1`, "nothing is for the runner")
			assert.NotContains(t, string(b), `"for":3`)
			assert.NotEmpty(t, plan.Env)
			assert.Equal(t, []string{host}, plan.Hosts())
		})
	}
}

// pfnet webhook #12: a credential file does not tell the project, so variables have to, and an empty one is worse than none.
func TestTheProjectIsKnownToEveryToolAndNoVariableIsEmpty(t *testing.T) {
	for account, want := range map[string]string{
		testAccount: "acme-ci",
		"ci@acme-ci.example.com.iam.gserviceaccount.com": "example.com:acme-ci",
		"acme-ci@appspot.gserviceaccount.com":            "acme-ci",
	} {
		plan, err := gcp.New().Plan(federation(t, set{"serviceAccount": account}))
		require.NoError(t, err)
		for _, name := range []string{"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"} {
			assert.Contains(t, plan.Env, identity.Env{Name: name, Value: want, For: identity.Job})
		}
		for _, e := range plan.Env {
			assert.NotEmpty(t, e.Value, e.Name)
			assert.NotEqual(t, "CLOUDSDK_COMPUTE_REGION", e.Name, "no region was asked for (webhook: added even when empty)")
		}
	}
}

// ESO #5388: an audience that is left out must not be empty.
func TestAnAudienceThatIsLeftOutIsTheOneThatGoogleTakes(t *testing.T) {
	plan, err := gcp.New().Plan(federation(t))
	require.NoError(t, err)
	assert.Equal(t, "https://iam.googleapis.com/"+testProvider, plan.Exchange.Audience)
	plan, err = gcp.New().Plan(onGKE(t))
	require.NoError(t, err)
	assert.Equal(t, "acme-ci.svc.id.goog", plan.Exchange.Audience)
}

// webhook #87: "//iam.googleapis.com//projects" is what STS then answers invalid_request to.
func TestNoURLHasADoubledSlash(t *testing.T) {
	plan, err := gcp.New().Plan(federation(t, set{"endpoints": set{"sts": "https://sts.p.googleapis.com/", "iamCredentials": "https://iam.example/"}}))
	require.NoError(t, err)
	var file map[string]any
	require.NoError(t, json.Unmarshal([]byte(plan.Files[0].Content), &file))
	assert.Equal(t, "https://sts.p.googleapis.com/v1/token", file["token_url"])
	for name, value := range file {
		if text, ok := value.(string); ok {
			assert.NotContains(t, strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "//"), "//", name)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	for name, r := range map[string]identity.Request{
		"federation": federation(b, set{"repositories": []string{testRepo}}), "metadata": onGKE(b, set{"nodeSelector": "Always"}),
	} {
		b.Run(name, func(b *testing.B) {
			p := gcp.New()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Plan(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
