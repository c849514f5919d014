// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

// cloud is a simulated Google, with a cluster that signs tokens.
type cloud struct {
	t      testing.TB
	server *gcpsim.Server
	url    string
	issuer *sim.Issuer
}

const (
	principal  = "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/system:serviceaccount:ci:build-job"
	gkeMember  = "serviceAccount:acme-ci.svc.id.goog[ci/build-job]"
	imagesRepo = "projects/acme-ci/locations/europe-west1/repositories/images"
)

// newCloud is Google as its administrator set it up with the commands of the trust document; change changes that.
func newCloud(t testing.TB, change ...func(*gcpsim.Config)) *cloud {
	t.Helper()
	issuer, err := sim.NewIssuer(testIssuer)
	require.NoError(t, err)
	keys := httptest.NewServer(issuer)
	t.Cleanup(keys.Close)
	config := gcpsim.Config{
		Providers: []gcpsim.Provider{
			{Name: testProvider, Issuer: testIssuer, JWKS: keys.URL},
			{Name: testCluster, Issuer: testIssuer, JWKS: keys.URL, Pool: "acme-ci.svc.id.goog", ProjectNumber: "123456789012"},
		},
		ServiceAccounts: map[string]gcpsim.ServiceAccount{testAccount: {WorkloadIdentityUsers: []string{principal, gkeMember}}},
		Repositories: map[string]gcpsim.Repository{imagesRepo: {Bindings: map[string][]string{
			"roles/artifactregistry.reader": {"serviceAccount:" + testAccount, principal, gkeMember},
		}}},
	}
	for _, c := range change {
		c(&config)
	}
	server, err := gcpsim.New(config)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return &cloud{t: t, server: server, url: server.Start(), issuer: issuer}
}

// here makes a request go to this cloud.
func (c *cloud) here() set {
	return set{"endpoints": set{"sts": c.url, "iamCredentials": c.url, "artifactRegistry": c.url}}
}

// token is one for the job's account, that lives for two hours.
func (c *cloud) token(r identity.Request) identity.Secret {
	return c.tokenFor(r, 2*time.Hour)
}

func (c *cloud) tokenFor(r identity.Request, lifetime time.Duration) identity.Secret {
	c.t.Helper()
	plan, err := gcp.New().Plan(r)
	require.NoError(c.t, err)
	return c.sign(sim.Subject{Namespace: r.Namespace, Account: r.Exchange(), Audience: plan.Exchange.Audience, Issued: time.Now(), Lifetime: lifetime})
}

func (c *cloud) sign(s sim.Subject) identity.Secret {
	c.t.Helper()
	token, err := c.issuer.Token(s)
	require.NoError(c.t, err)
	return identity.NewSecret(token)
}
