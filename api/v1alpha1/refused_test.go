// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/config/crd"
)

// refusedRunners are template specs with one mistake each. What is wanted names the field, the value, and what would be right.
var refusedRunners = map[string]struct{ spec, want string }{
	"a runner that registers nowhere": {
		`labels: [linux]`,
		`none of enterprise, organization, repository is set; set exactly one: where the runner registers`,
	},
	"a runner that registers twice": {
		"organization: acme\nrepository: acme/website",
		`more than one of enterprise, organization, repository is set; set exactly one: where the runner registers`,
	},
	"an enterprise that is a URL": {
		`enterprise: https://github.com/enterprises/acme`,
		`enterprise: 'https://github.com/enterprises/acme' is not the slug of an enterprise, such as acme`,
	},
	"an organisation with a slash": {
		`organization: acme/website`,
		`organization: 'acme/website' is not the name of an organisation, such as acme`,
	},
	"a repository without its owner": {
		`repository: website`,
		`repository: 'website' is not a repository: OWNER/NAME, such as acme/website`,
	},
	"a runner that outlives its job": {
		"organization: acme\nephemeral: false",
		`ephemeral: false is not possible: runners register by JIT config, which is good for one job; leave the field out or set it to true`,
	},
	"a container mode with a capital letter, which ARC takes for none": {
		"organization: acme\ncontainerMode: Kubernetes",
		`spec.template.spec.containerMode: Unsupported value: "Kubernetes": supported values: "", "dind", "kubernetes"`,
	},
	"container mode kubernetes without a claim": {
		"organization: acme\ncontainerMode: kubernetes",
		`workVolumeClaimTemplate: is missing; containerMode kubernetes shares the work volume between runner and job through a claim: set accessModes and resources.requests.storage`,
	},
	"a claim without access modes": {
		"organization: acme\nworkVolumeClaimTemplate: {accessModes: [], resources: {}}",
		`spec.template.spec.workVolumeClaimTemplate.accessModes: Invalid value: 0: spec.template.spec.workVolumeClaimTemplate.accessModes in body should have at least 1 items`,
	},
	"a claim that nobody may write": {
		"organization: acme\nworkVolumeClaimTemplate: {accessModes: [ReadOnlyMany], resources: {}}",
		`accessModes: 'ReadOnlyMany' does not let runner and job write the work volume: use ReadWriteOnce or ReadWriteMany`,
	},
	"a volume with the name of the claim": {
		"organization: acme\ncontainerMode: kubernetes\nworkVolumeClaimTemplate: {accessModes: [ReadWriteOnce], resources: {}}\nvolumes: [{name: work, emptyDir: {}}]",
		`volumes: 'work' is the name of the claim of containerMode kubernetes; choose another name, or describe the claim in workVolumeClaimTemplate`,
	},
	"dockerd in the runner's own container": {
		"organization: acme\ndockerdWithinRunnerContainer: true",
		`dockerdWithinRunnerContainer: true is not supported; use containerMode: dind, which runs the daemon beside the runner`,
	},
	"docker without container mode dind": {
		"organization: acme\ndockerEnabled: true",
		`dockerEnabled: true needs containerMode: dind`,
	},
	"an unknown medium for the work volume": {
		"organization: acme\nvolumeStorageMedium: memory",
		`spec.template.spec.volumeStorageMedium: Unsupported value: "memory": supported values: "", "Memory"`,
	},
	"credentials without the Secret's name": {
		"organization: acme\ngithubAPICredentialsFrom: {secretRef: {name: ''}}",
		`spec.template.spec.githubAPICredentialsFrom.secretRef.name: Invalid value: "": spec.template.spec.githubAPICredentialsFrom.secretRef.name in body should be at least 1 chars long`,
	},
	"an identity of no provider": {
		"organization: acme\nidentity: {aws: {roleARN: 'arn:aws:iam::111122223333:role/ci'}}",
		`identity: is set but identityProvider is not; name the provider, such as identityProvider: aws`,
	},
	"two accounts for one runner": {
		"organization: acme\nidentityProvider: aws\nserviceAccountName: ci\nidentity: {serviceAccounts: {runner: deploy}}",
		`serviceAccountName: 'ci' is not identity.serviceAccounts.runner: 'deploy'; both name the account of the runner pod: set one of them`,
	},
	"a field that does not exist": {
		"organization: acme\nidentityprovider: aws",
		`unknown field "spec.template.spec.identityprovider"`,
	},
}

// refusedIdentities are identities with one mistake each.
var refusedIdentities = map[string]struct{ spec, want string }{
	"settings of two clouds": {
		"aws: {region: eu-west-1}\ngcp: {projectID: acme-ci}",
		`aws and gcp are both set: set the one that identityProvider names`,
	},
	"an unknown target": {
		`targets: [Runners]`,
		`identity.targets[0]: Unsupported value: "Runners": supported values: "Runner", "Job"`,
	},
	"an unknown carrier": {
		`delivery: Webhook`,
		`identity.delivery: Unsupported value: "Webhook": supported values: "Admission", "HookTemplate", "WorkVolume"`,
	},
	"a runner's account with a capital letter": {
		`serviceAccounts: {runner: CI}`,
		`runner: 'CI' is not a ServiceAccount name: lower-case letters, digits, '-' and '.'`,
	},
	"a job's account with its namespace": {
		`serviceAccounts: {job: ci/deploy}`,
		`job: 'ci/deploy' is not a ServiceAccount name: lower-case letters, digits, '-' and '.'`,
	},
	"a registry with a scheme": {
		`registries: [public.ecr.aws, "https://111122223333.dkr.ecr.eu-west-1.amazonaws.com"]`,
		`registries: 'https://111122223333.dkr.ecr.eu-west-1.amazonaws.com' is not a bare registry host: no scheme and no path, such as 111122223333.dkr.ecr.eu-west-1.amazonaws.com`,
	},
	"a user's ARN instead of a role's": {
		`aws: {roleARN: "arn:aws:iam::111122223333:user/ci"}`,
		`roleARN: 'arn:aws:iam::111122223333:user/ci' is not the ARN of an IAM role, such as arn:aws:iam::111122223333:role/ci`,
	},
	"a role's name instead of its ARN in the chain": {
		`aws: {roleARN: "arn:aws:iam::111122223333:role/ci", chain: ["arn:aws:iam::111122223333:role/a", deploy]}`,
		`chain: 'deploy' is not the ARN of an IAM role, such as arn:aws:iam::111122223333:role/deploy`,
	},
	"a session name with a colon": {
		`aws: {sessionName: "acme:ci"}`,
		`sessionName: 'acme:ci' is not a session name: 2 to 64 of A-Z a-z 0-9 _ + = , . @ -`,
	},
	"an unknown binding": {
		`aws: {binding: Webhook}`,
		`identity.aws.binding: Unsupported value: "Webhook": supported values: "Inject", "Annotate"`,
	},
	"an unknown AWS mode": {
		`aws: {mode: IRSA}`,
		`identity.aws.mode: Unsupported value: "IRSA": supported values: "WebIdentity", "PodIdentity"`,
	},
	"Pod Identity with the annotation of the other mode": {
		`aws: {mode: PodIdentity, binding: Annotate}`,
		`binding: Annotate works with mode WebIdentity only; with mode PodIdentity the role comes from the cluster's PodIdentityAssociation`,
	},
	"Pod Identity with a chain": {
		`aws: {mode: PodIdentity, chain: ["arn:aws:iam::111122223333:role/a"]}`,
		`chain: works with mode WebIdentity only; with mode PodIdentity set targetRoleArn on the PodIdentityAssociation`,
	},
	"an annotation with a chain": {
		`aws: {binding: Annotate, chain: ["arn:aws:iam::111122223333:role/a"]}`,
		`chain: works with binding Inject only; the EKS webhook knows one role`,
	},
	"a lifetime that Go cannot parse, which would stop the controller for everyone": {
		`aws: {tokenLifetime: 1d}`,
		`tokenLifetime: '1d' is not a duration between 10m and 24h, such as 12h`,
	},
	"a lifetime below Kubernetes' minimum": {
		`aws: {tokenLifetime: 9m59s}`,
		`tokenLifetime: '9m59s' is not a duration between 10m and 24h, such as 12h`,
	},
	"a lifetime above AWS's maximum": {
		`aws: {tokenLifetime: 24h1s}`,
		`tokenLifetime: '24h1s' is not a duration between 10m and 24h, such as 12h`,
	},
}

// refusedSpecs are specs of the other kinds, and of what is above a runner's template, with one mistake each.
var refusedSpecs = map[string]struct{ kind, spec, want string }{
	"fewer than no runners": {
		"RunnerDeployment", "replicas: -1\ntemplate: {spec: {organization: acme}}",
		`spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0`,
	},
	"more runners than a cluster has room for": {
		"RunnerDeployment", "replicas: 10001\ntemplate: {spec: {organization: acme}}",
		`spec.replicas: Invalid value: 10001: spec.replicas in body should be less than or equal to 10000`,
	},
	"a deployment without a template": {
		"RunnerDeployment", "replicas: 1",
		`spec.template: Required value`,
	},
	"an identity without a provider": {
		"RunnerIdentity", "identity: {}",
		`spec.identityProvider: Required value`,
	},
	"an identity with an empty provider": {
		"RunnerIdentity", "identityProvider: ''",
		`spec.identityProvider: Invalid value: "": spec.identityProvider in body should be at least 1 chars long`,
	},
	"a selector that selects nothing": {
		"RunnerIdentity", "identityProvider: aws\nselector: {}",
		`none of scaleSet, runnerDeployment, podSelector is set; set exactly one`,
	},
	"a selector that selects twice": {
		"RunnerIdentity", "identityProvider: aws\nselector: {scaleSet: a, podSelector: {}}",
		`more than one of scaleSet, runnerDeployment, podSelector is set; set exactly one`,
	},
	"a provider without a plug-in": {
		"IdentityProvider", "issuer: https://issuer.test",
		`spec.plugin: Required value`,
	},
	"AWS settings of another plug-in": {
		"IdentityProvider", "plugin: vault\naws: {region: eu-west-1}",
		`aws: is for plugin aws, and plugin is 'vault'`,
	},
	"Google settings of another plug-in": {
		"IdentityProvider", "plugin: aws\ngcp: {projectID: acme-ci}",
		`gcp: is for plugin gcp, and plugin is 'aws'`,
	},
	"an issuer without a scheme": {
		"IdentityProvider", "plugin: aws\nissuer: oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE",
		`issuer: 'oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE' is not an issuer URL, such as https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE`,
	},
	"a metadata server by its URL": {
		"IdentityProvider", "plugin: gcp\ngcp: {endpoints: {metadata: 'http://169.254.169.254'}}",
		`metadata: 'http://169.254.169.254' is not a host, such as 169.254.169.254 or 127.0.0.1:8080`,
	},
	"two mappings of one name": {
		"IdentityProvider", "plugin: aws\nnamespaceDefaults: [{name: a, selector: {}}, {name: a, selector: {}}]",
		`spec.namespaceDefaults[1]: Duplicate value: {"name":"a"}`,
	},
	"a mapping whose name is no part of an object's name": {
		"IdentityProvider", "plugin: aws\nnamespaceDefaults: [{name: Team.A, selector: {}}]",
		`name: 'Team.A' is not the name of a mapping: lower-case letters, digits and '-'`,
	},
	"a mapping of an account that cannot exist": {
		"IdentityProvider", "plugin: aws\nnamespaceDefaults: [{name: a, selector: {}, serviceAccount: ci/default}]",
		`serviceAccount: 'ci/default' is not a ServiceAccount name: lower-case letters, digits, '-' and '.'`,
	},
	"an admin's default that is no role": {
		"IdentityProvider", "plugin: aws\naws: {roleARN: ci}",
		`roleARN: 'ci' is not the ARN of an IAM role, such as arn:aws:iam::111122223333:role/ci`,
	},
}

func TestMistakesAreRefusedByFieldValueAndRemedy(t *testing.T) {
	a := newAPIServer(t)
	for name, tc := range refusedRunners {
		t.Run(name, func(t *testing.T) {
			a.refuses(t, "RunnerDeployment", "template:\n  spec:\n"+indent(tc.spec, "    "), tc.want)
		})
	}
	for name, tc := range refusedIdentities {
		spec := "identityProvider: aws\nidentity:\n" + indent(tc.spec, "  ")
		t.Run(name, func(t *testing.T) { a.refuses(t, "RunnerIdentity", spec, tc.want) })
		t.Run(name+", in a RunnerDeployment", func(t *testing.T) {
			a.refuses(t, "RunnerDeployment", "template:\n  spec:\n    organization: acme\n"+indent(spec, "    "), tc.want)
		})
	}
	for name, tc := range refusedGCP {
		spec := indent("gcp:\n"+indent(tc.spec, "  "), "  ")
		t.Run(name, func(t *testing.T) { a.refuses(t, "RunnerIdentity", "identityProvider: gcp\nidentity:\n"+spec, tc.want) })
		t.Run(name+", as the admin's default", func(t *testing.T) {
			a.refuses(t, "IdentityProvider", "plugin: gcp\ngcp:\n"+indent(tc.spec, "  "), tc.want)
		})
	}
	for name, tc := range refusedSpecs {
		t.Run(name, func(t *testing.T) { a.refuses(t, tc.kind, tc.spec, tc.want) })
	}
}

// refuses asks the API server, and the check that needs none, which must not differ.
func (a apiServer) refuses(t *testing.T, kind, spec, want string) {
	t.Helper()
	_, err := a.tryOut(object(t, kind, spec))
	require.Error(t, err)
	assert.ErrorContains(t, err, want)
	assert.ErrorContains(t, crd.Validate(object(t, kind, spec).Object), want, "render says the same as the API server")
}

func TestANameThatLeavesNoRoomForRunnersIsRefused(t *testing.T) {
	a := newAPIServer(t)
	o := runner(t, "organization: acme")
	long := strings.Repeat("a", 48)
	o.SetName(long)

	_, err := a.tryOut(o)
	require.ErrorContains(t, err, `metadata.name: '`+long+`' is longer than 47 characters; the names of runners and of job pods are made from it`)

	o.SetName(long[1:])
	_, err = a.tryOut(o)
	assert.NoError(t, err)
}

func TestAnIdentitysNameIsALabelsValue(t *testing.T) {
	a := newAPIServer(t)
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "RunnerIdentity", "spec": map[string]any{"identityProvider": "aws"},
	}}
	long := strings.Repeat("a", 64)
	o.SetName(long)

	_, err := a.tryOut(o)
	require.ErrorContains(t, err, `metadata.name: '`+long+`' is longer than 63 characters; it is the value of a label on all that is made for it`)

	o.SetName(long[1:])
	_, err = a.tryOut(o)
	assert.NoError(t, err)
}
