// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

// refusedGCP are settings of the plug-in gcp with one mistake each.
var refusedGCP = map[string]struct{ spec, want string }{
	"an unknown Google mode": {
		`mode: Key`,
		`gcp.mode: Unsupported value: "Key": supported values: "Metadata", "Federation"`,
	},
	"a person's e-mail": {
		`serviceAccount: ci@acme.example`,
		`serviceAccount: 'ci@acme.example' is not the e-mail of a Google service account, such as ci@acme-ci.iam.gserviceaccount.com`,
	},
	"a workload identity provider by its project's id instead of its number": {
		`workloadIdentityProvider: projects/acme-ci/locations/global/workloadIdentityPools/p/providers/p`,
		`workloadIdentityProvider: 'projects/acme-ci/locations/global/workloadIdentityPools/p/providers/p' is neither projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER, with the project's number, nor the URL of a GKE cluster or a fleet membership`,
	},
	"a workload pool without its domain": {
		`workloadPool: acme-ci`,
		`workloadPool: 'acme-ci' is not a workload pool, such as acme-ci.svc.id.goog`,
	},
	"a project's display name": {
		`projectID: Acme CI`,
		`projectID: 'Acme CI' is not the id of a project, such as acme-ci; numbers and display names are not`,
	},
	"a project's id as its number": {
		`projectNumber: acme-ci`,
		`projectNumber: 'acme-ci' is not the number of a project, such as 123456789012`,
	},
	"a quota project by its number": {
		`quotaProject: "123456789012"`,
		`quotaProject: '123456789012' is not the id of a project, such as acme-ci`,
	},
	"a zone instead of a region": {
		`region: europe-west1-b`,
		`region: 'europe-west1-b' is not a region of Google Cloud, such as europe-west1; zones and multi-regions are not`,
	},
	"a universe that is a URL": {
		`universeDomain: https://googleapis.com`,
		`universeDomain: 'https://googleapis.com' is not a domain, such as googleapis.com`,
	},
	"a projected token that lives for days": {
		`tokenLifetime: 48h`,
		`tokenLifetime: '48h' is not a duration between 10m and 24h, such as 12h`,
	},
	"an access token that lives longer than Google allows": {
		`accessTokenLifetime: 12h1s`,
		`accessTokenLifetime: '12h1s' is not a duration between 10m and 12h, such as 1h`,
	},
	"an unknown node selector": {
		`nodeSelector: Sometimes`,
		`gcp.nodeSelector: Unsupported value: "Sometimes": supported values: "Never", "Always"`,
	},
	"nodes with a metadata server that is not asked": {
		`{mode: Federation, nodeSelector: Always}`,
		`nodeSelector: Always works with mode Metadata only; with mode Federation no metadata server is asked`,
	},
	"a principal in place of an e-mail that there is": {
		`{principalIDAsEmail: true, serviceAccount: ci@acme-ci.iam.gserviceaccount.com}`,
		`principalIDAsEmail: works without serviceAccount only; with one, pods see its e-mail`,
	},
	"a principal in place of an e-mail that nobody asks for": {
		`{mode: Federation, principalIDAsEmail: true}`,
		`principalIDAsEmail: works with mode Metadata only; leave it out`,
	},
	"image pulls by a metadata server that is not asked": {
		`{mode: Federation, imagePull: true}`,
		`imagePull: works with mode Metadata only; with mode Federation the registry Secret is what images are pulled with`,
	},
}
