// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"testing"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/identity/identitytest"
)

func TestTheProviderKeepsThePromisesOfPackageIdentity(t *testing.T) {
	with := func(r identity.Request, change func(*identity.Request)) identity.Request {
		change(&r)
		return r
	}
	identitytest.Run(t, gcp.New(),
		identitytest.Case{Name: "federation with a service account", Request: federation(t)},
		identitytest.Case{Name: "federation, direct", Request: federation(t, set{"serviceAccount": nil, "projectID": "acme-ci"})},
		identitytest.Case{Name: "runner and job", Request: with(federation(t), func(r *identity.Request) { r.Targets = identity.Both })},
		identitytest.Case{Name: "nobody", Request: with(federation(t), func(r *identity.Request) { r.Targets = 0 })},
		identitytest.Case{Name: "registries of images, repositories and region", Request: with(
			federation(t, set{"repositories": []string{testRepo}, "region": "europe-west4"}),
			func(r *identity.Request) { r.ImageHosts = []string{"docker.io", "gcr.io", "us-docker.pkg.dev"} })},
		identitytest.Case{Name: "everything of federation", Request: federation(t, set{
			"quotaProject": "acme-quota", "universeDomain": "eu0.example", "accessTokenLifetime": "2h", "tokenLifetime": "1h", "region": "europe-west1"})},
		identitytest.Case{Name: "metadata", Request: onGKE(t)},
		identitytest.Case{Name: "metadata, direct, with all annotations", Request: onGKE(t, set{
			"serviceAccount": nil, "principalIDAsEmail": true, "imagePull": true, "quotaProject": "acme-quota", "nodeSelector": "Always"})},
		identitytest.Case{Name: "metadata without a known issuer", Request: with(onGKE(t), func(r *identity.Request) { r.Issuer = "" })},
		identitytest.Case{Name: "a fleet", Request: federation(t, set{"workloadIdentityProvider": testMember})},
		identitytest.Case{Name: "bad account", Request: federation(t, set{"serviceAccount": "ci"}), WantProblem: "gcp.serviceAccount"},
		identitytest.Case{Name: "bad registry", Request: with(federation(t), func(r *identity.Request) { r.Registries = []string{"ghcr.io"} }), WantProblem: "registries"},
	)
}
