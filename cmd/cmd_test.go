// SPDX-License-Identifier: Apache-2.0

package cmd_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/cmd"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/internal/golden"
)

// runCommand runs the program with a standard input and returns what it printed.
func runCommand(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	providers, err := identity.NewSet(aws.New(), gcp.New())
	require.NoError(t, err)
	root := cmd.Root(providers)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetIn(strings.NewReader(stdin))
	root.SetArgs(args)
	err = root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"render-aws":            {"render", "-f", "../config/samples/aws.yaml"},
		"trust-aws":             {"trust", "-f", "../config/samples/aws.yaml"},
		"render-gcp-gke":        {"render", "-f", "../config/samples/gcp-gke.yaml"},
		"trust-gcp-gke":         {"trust", "-f", "../config/samples/gcp-gke.yaml"},
		"render-gcp-federation": {"render", "-f", "../config/samples/gcp-federation.yaml"},
		"trust-gcp-federation":  {"trust", "-f", "../config/samples/gcp-federation.yaml"},
		"render-aws-dind":       {"render", "-f", "../config/samples/aws-dind.yaml"},
		"render-kubernetes":     {"render", "-f", "testdata/identity-job.yaml"},
		"trust-no-issuer":       {"trust", "-f", "testdata/identity-job.yaml"},
		"render-no-identity":    {"render", "-f", "testdata/plain.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := runCommand(t, "", args...)
			require.NoError(t, err)
			golden.Check(t, name+".golden.yaml", got)
		})
	}
}

// deployment is a RunnerDeployment with these lines in its template's spec.
func deployment(lines ...string) string {
	head := "apiVersion: runner-identity.dev/v1alpha1\nkind: RunnerDeployment\nmetadata: {name: website}\nspec:\n  template:\n    spec:\n      "
	return head + strings.Join(lines, "\n      ") + "\n"
}

func TestBadInputNamesTheFieldTheValueAndWhatWouldBeRight(t *testing.T) {
	role := "identity: {aws: {region: eu-west-1, roleARN: 'arn:aws:iam::111122223333:role/ci'}}"
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"a role ARN that is none": {
			deployment("organization: acme", "identityProvider: aws", "identity: {aws: {roleARN: ci}}"),
			[]string{"roleARN", "'ci'", "arn:aws:iam::111122223333:role/ci"},
		},
		"a region of another partition than the role's": {
			deployment("organization: acme", "identityProvider: aws", "identity: {aws: {region: cn-north-1, roleARN: 'arn:aws:iam::111122223333:role/ci'}}"),
			[]string{"region", "cn-north-1", "aws-cn"},
		},
		"an unknown provider": {
			deployment("organization: acme", "identityProvider: azure"),
			[]string{"identityProvider", `"azure"`, "has: aws, gcp"},
		},
		"settings of the other cloud": {
			deployment("organization: acme", "identityProvider: aws", "identity: {gcp: {projectID: acme-ci}}"),
			[]string{"identity.gcp", `"aws"`, "identity.aws"},
		},
		"a project's id where Google wants its number": {
			deployment("organization: acme", "identityProvider: gcp", "identity: {gcp: {workloadIdentityProvider: projects/acme-ci/locations/global/workloadIdentityPools/ci/providers/cluster}}"),
			[]string{"workloadIdentityProvider", "projects/acme-ci", "number"},
		},
		"ephemeral: false": {
			deployment("organization: acme", "ephemeral: false"),
			[]string{"ephemeral", "JIT config"},
		},
		"container mode kubernetes without a claim": {
			deployment("organization: acme", "containerMode: kubernetes", "identityProvider: aws", role),
			[]string{"workVolumeClaimTemplate", "accessModes"},
		},
		"a container mode with a typing error, which elsewhere silently means the default": {
			deployment("organization: acme", "containerMode: kubernets"),
			[]string{"containerMode", "kubernets", "dind"},
		},
		"two places to register": {
			deployment("organization: acme", "repository: acme/website"),
			[]string{"more than one of enterprise, organization, repository", "set exactly one"},
		},
		"a field that does not exist": {
			deployment("organization: acme", "serviceAcountName: ci"),
			[]string{"unknown field", "serviceAcountName"},
		},
		"a role outside of allowedPrincipals": {
			deployment("organization: acme", "identityProvider: aws", role) +
				"---\napiVersion: runner-identity.dev/v1alpha1\nkind: IdentityProvider\nmetadata: {name: aws}\nspec: {plugin: aws, allowedPrincipals: ['arn:aws:iam::111122223333:role/other']}\n",
			[]string{"NotAllowed", "role/ci", "role/other"},
		},
		"a file with nothing in it for this program": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
			[]string{"no RunnerDeployment or RunnerIdentity"},
		},
		"YAML that is none": {
			"apiVersion: [", []string{"-:", "yaml"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runCommand(t, c.in, "render", "-f", "-")
			require.Error(t, err, out)
			for _, want := range c.want {
				assert.Contains(t, err.Error(), want)
			}
			assert.Empty(t, out, "an error is no place for half of an answer")
		})
	}
}

func TestRenderPrintsNoLogin(t *testing.T) {
	out, err := runCommand(t, "", "render", "-f", "../config/samples/aws.yaml")
	require.NoError(t, err)
	assert.NotContains(t, out, "password")
	assert.NotContains(t, out, `"auth":`)
}

func TestAMissingFileIsAnError(t *testing.T) {
	_, err := runCommand(t, "", "trust", "-f", "testdata/none.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
}
