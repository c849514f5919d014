// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

var (
	bindsAccount    = regexp.MustCompile(`(?m)^gcloud iam service-accounts add-iam-policy-binding (\S+) .*--role roles/iam.workloadIdentityUser --member '(.*)'$`)
	bindsRepository = regexp.MustCompile(`(?m)^gcloud artifacts repositories add-iam-policy-binding (\S+) --project (\S+) --location (\S+) --role (\S+) --member '(.*)'$`)
)

// obeyed is Google after somebody ran the commands of the trust documents, those of the namespace's set or those of accounts.
func obeyed(t *testing.T, r identity.Request, set bool) func(*gcpsim.Config) {
	t.Helper()
	trust, err := gcp.New().Trust(r)
	require.NoError(t, err)
	return func(c *gcpsim.Config) {
		c.ServiceAccounts, c.Repositories = map[string]gcpsim.ServiceAccount{}, map[string]gcpsim.Repository{}
		for _, d := range trust.Documents {
			for _, m := range bindsAccount.FindAllStringSubmatch(d.Body, -1) {
				if strings.HasPrefix(m[2], "principalSet:") == set {
					c.ServiceAccounts[m[1]] = gcpsim.ServiceAccount{WorkloadIdentityUsers: append(c.ServiceAccounts[m[1]].WorkloadIdentityUsers, m[2])}
				}
			}
			for _, m := range bindsRepository.FindAllStringSubmatch(d.Body, -1) {
				c.Repositories["projects/"+m[2]+"/locations/"+m[3]+"/repositories/"+m[1]] = gcpsim.Repository{Bindings: map[string][]string{m[4]: {m[5]}}}
			}
		}
	}
}

func TestTheCommandsOfTheTrustDocumentsAreEnoughAndLetNobodyElseIn(t *testing.T) {
	const number = "123456789012"
	onCluster := set{"workloadIdentityProvider": testCluster}
	for name, c := range map[string]struct {
		settings []set
		gke, set bool
	}{
		"a pool, an account":                    {},
		"a pool, an account, all the namespace": {set: true},
		"a pool, direct":                        {settings: []set{{"serviceAccount": nil, "projectID": "acme-ci"}}},
		"GKE, an account, no number":            {gke: true, settings: []set{onCluster}},
		"GKE, an account":                       {gke: true, settings: []set{onCluster, {"projectNumber": number}}},
		"GKE, an account, all the namespace":    {gke: true, set: true, settings: []set{onCluster, {"projectNumber": number}}},
		"GKE, direct, no number":                {gke: true, settings: []set{onCluster, {"serviceAccount": nil}}},
		"GKE, direct":                           {gke: true, settings: []set{onCluster, {"serviceAccount": nil, "projectNumber": number}}},
	} {
		t.Run(name, func(t *testing.T) {
			made := func(changes ...set) identity.Request {
				all := append(append([]set{{"repositories": []string{testRepo}}}, c.settings...), changes...)
				if !c.gke {
					return federation(t, all...)
				}
				r := onGKE(t, all...)
				r.Issuer = "" // GKE's own, which signs elsewhere
				return r
			}
			world := newCloud(t, obeyed(t, made(), c.set))
			r := made(world.here())
			_, err := gcp.New().Probe(t.Context(), world.token(r), r)
			require.NoError(t, err)

			other := r
			other.Namespace = "other"
			_, err = gcp.New().Probe(t.Context(), world.token(other), other)
			assert.Equal(t, identity.Denied, identity.ReasonOf(err), "another namespace: %v", err)
			if c.set {
				return
			}
			other = r
			other.Accounts.Job = "other"
			_, err = gcp.New().Probe(t.Context(), world.token(other), other)
			assert.Equal(t, identity.Denied, identity.ReasonOf(err), "another account: %v", err)
		})
	}
}

func TestAnIssuerThatIsNotKnownHasAPlaceholderAndAHint(t *testing.T) {
	r := federation(t)
	r.Issuer = ""
	trust, err := gcp.New().Trust(r)
	require.NoError(t, err)
	assert.Contains(t, trust.Documents[0].Body, "--issuer-uri ISSUER_URL")
	assert.Contains(t, trust.Documents[0].Title, "kubectl get --raw /.well-known/openid-configuration")
	_, err = gcp.New().Trust(federation(t, set{"mode": "x"}))
	assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
}

// A probe looks at the claims without trusting them: those of STS count.
func TestAForgedTokenPassesTheLookAtItsClaimsAndNotSTS(t *testing.T) {
	c := newCloud(t)
	forger, err := sim.NewIssuer(testIssuer)
	require.NoError(t, err)
	s := filled(sim.Subject{Issued: time.Now()})
	forged, err := forger.Token(s)
	require.NoError(t, err)
	links, err := gcp.New().Probe(t.Context(), identity.NewSecret(forged), federation(t, c.here()))
	assert.Equal(t, []string{"token", "sts!"}, names(links))
	assert.ErrorContains(t, err, "--jwk-json-path jwks.json")
}
