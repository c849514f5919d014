// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/resolve"
)

func mapping(registries []string, settings map[string]string) v1alpha1.NamespaceDefault {
	return v1alpha1.NamespaceDefault{Name: "team", Identity: v1alpha1.NamespaceIdentity{Registries: registries, Settings: settings}}
}

func ofPlugin(plugin string) *v1alpha1.IdentityProvider {
	return &v1alpha1.IdentityProvider{ObjectMeta: metav1.ObjectMeta{Name: "production"}, Spec: v1alpha1.IdentityProviderSpec{Plugin: plugin}}
}

func TestNamespaceDefaultFillsInTheNamespace(t *testing.T) {
	m := mapping([]string{"${namespace}.registry.example.com"}, map[string]string{
		"roleARN": "arn:aws:iam::111122223333:role/${namespace}/ci-${namespace}", "binding": "Annotate",
	})
	ri, err := resolve.NamespaceDefault(ofPlugin("aws"), m, "web")
	require.NoError(t, err)
	assert.Equal(t, "web", ri.Namespace)
	assert.Equal(t, "team.production", ri.Name)
	assert.Equal(t, map[string]string{v1alpha1.LabelNamespaceDefault: "team"}, ri.Labels)
	assert.Nil(t, ri.Spec.Selector, "no runner pod has it")
	assert.Equal(t, v1alpha1.RunnerIdentitySpec{IdentityProvider: "production", Identity: v1alpha1.Identity{
		ServiceAccounts: v1alpha1.ServiceAccountNames{Runner: "default", Job: "default"},
		Targets:         []v1alpha1.IdentityTarget{v1alpha1.TargetRunner},
		Delivery:        v1alpha1.DeliveryAdmission,
		Registries:      []string{"web.registry.example.com"},
		AWS:             &v1alpha1.AWSIdentity{RoleARN: "arn:aws:iam::111122223333:role/web/ci-web", Binding: v1alpha1.AWSAnnotate},
	}}, ri.Spec)
	assert.Equal(t, []string{"default"}, resolve.Bound(ri))
	assert.Equal(t, "arn:aws:iam::111122223333:role/${namespace}/ci-${namespace}", m.Identity.Settings["roleARN"], "the mapping itself is left")
}

func TestNamespaceDefaultOfANamedAccount(t *testing.T) {
	m := mapping(nil, nil)
	m.ServiceAccount = "deployer"
	ri, err := resolve.NamespaceDefault(ofPlugin("mine"), m, "web")
	require.NoError(t, err)
	assert.Equal(t, []string{"deployer"}, resolve.Bound(ri))
	assert.Nil(t, ri.Spec.Identity.Parameters)
}

func TestSettingsOfANamespaceDefaultHaveTheTypesOfTheirFields(t *testing.T) {
	ri, err := resolve.NamespaceDefault(ofPlugin("gcp"), mapping(nil, map[string]string{
		"imagePull": "true", "repositories": `["europe-west1-docker.pkg.dev/acme-ci/${namespace}"]`, "tokenLifetime": "1h", "projectNumber": "123456789012",
	}), "web")
	require.NoError(t, err)
	assert.Equal(t, &v1alpha1.GCPIdentity{
		ImagePull: true, Repositories: []string{"europe-west1-docker.pkg.dev/acme-ci/web"},
		TokenLifetime: &metav1.Duration{Duration: time.Hour}, ProjectNumber: "123456789012",
	}, ri.Spec.Identity.GCP)

	ri, err = resolve.NamespaceDefault(ofPlugin("mine"), mapping(nil, map[string]string{"flavour": "${namespace}!"}), "web")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"flavour": "web!"}, ri.Spec.Identity.Parameters)
}

func TestMistakesInANamespaceDefaultNameTheSetting(t *testing.T) {
	for name, tc := range map[string]struct {
		mapping v1alpha1.NamespaceDefault
		want    string
	}{
		"a setting that the plug-in does not have": {mapping(nil, map[string]string{"roleArns": "x"}), `settings.roleArns: "x" is not a value of a setting of that name`},
		"a word where a switch is":                 {mapping(nil, map[string]string{"allowInstanceMetadata": "yes"}), `settings.allowInstanceMetadata: "yes" is not a value`},
		"the admin's endpoints, which tokens go to": {
			mapping(nil, map[string]string{"endpoints": `{"sts": "https://evil.example.com"}`}), `settings.endpoints: `,
		},
		"more fields in one value":        {mapping(nil, map[string]string{"roleARN": `x", "region": "y`}), ""},
		"another placeholder":             {mapping(nil, map[string]string{"roleARN": "role/${Namespace}"}), `settings.roleARN: "role/${Namespace}" has a placeholder other than ${namespace}`},
		"another placeholder in a host":   {mapping([]string{"a.example.com", "${name}.example.com"}, nil), `registries[1]: "${name}.example.com" has a placeholder`},
		"a list that is cut off":          {mapping(nil, map[string]string{"chain": `["a"`}), `settings.chain: `},
		"nothing where a lifetime has to": {mapping(nil, map[string]string{"tokenLifetime": ""}), `settings.tokenLifetime: "" is not a value`},
	} {
		t.Run(name, func(t *testing.T) {
			ri, err := resolve.NamespaceDefault(ofPlugin("aws"), tc.mapping, "web")
			if tc.want == "" {
				require.NoError(t, err)
				assert.Equal(t, &v1alpha1.AWSIdentity{RoleARN: tc.mapping.Identity.Settings["roleARN"]}, ri.Spec.Identity.AWS, "a text is a text")
				return
			}
			require.ErrorContains(t, err, tc.want)
			assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
		})
	}
}

func TestNamesOfNamespaceDefaultsFitALabelAndDiffer(t *testing.T) {
	long := strings.Repeat("p", 253)
	names := map[string]bool{}
	for _, c := range [][2]string{
		{"aws", "team"}, {"team.aws", "a"}, {"aws", "a-team"}, {long, "team"}, {long, "teams"}, {long + "x", "team"},
		{"aws", strings.Repeat("m", 63)}, {"aws-b", strings.Repeat("m", 63)}, {strings.Repeat("p.", 40), strings.Repeat("m", 53)},
	} {
		name := resolve.NamespaceDefaultName(c[0], c[1])
		assert.LessOrEqual(t, len(name), 63)
		assert.Regexp(t, `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`, name)
		assert.False(t, names[name], "%s twice", name)
		names[name] = true
	}
}

func TestBound(t *testing.T) {
	for name, tc := range map[string]struct {
		identity v1alpha1.Identity
		want     []string
	}{
		"the runner's, by default":                              {v1alpha1.Identity{}, []string{"ci-runner"}},
		"not the runner's if only its jobs have the identity":   {v1alpha1.Identity{Targets: []v1alpha1.IdentityTarget{v1alpha1.TargetJob}}, []string{"ci-job"}},
		"those that are named":                                  {v1alpha1.Identity{ServiceAccounts: v1alpha1.ServiceAccountNames{Runner: "default"}}, []string{"default"}},
		"not a job's account that is named but has no such job": {v1alpha1.Identity{ServiceAccounts: v1alpha1.ServiceAccountNames{Job: "default"}}, []string{"ci-runner"}},
	} {
		t.Run(name, func(t *testing.T) {
			ri := &v1alpha1.RunnerIdentity{ObjectMeta: metav1.ObjectMeta{Name: "ci"}, Spec: v1alpha1.RunnerIdentitySpec{Identity: tc.identity}}
			assert.Equal(t, tc.want, resolve.Bound(ri))
		})
	}
}

func TestTheSampleResolves(t *testing.T) {
	raw, err := os.ReadFile("../config/samples/namespace-defaults.yaml")
	require.NoError(t, err)
	p := &v1alpha1.IdentityProvider{}
	require.NoError(t, yaml.UnmarshalStrict(raw, p))
	providers, err := identity.NewSet(gcp.New())
	require.NoError(t, err)
	require.NoError(t, resolve.CheckProvider(providers, p))
	ri, err := resolve.NamespaceDefault(p, p.Spec.NamespaceDefaults[0], "web")
	require.NoError(t, err)
	r, err := resolve.Identity(resolve.Input{Providers: providers, Identity: ri, Provider: p})
	require.NoError(t, err)
	require.Len(t, r.Plan.Accounts, 1)
	assert.Equal(t, map[string]string{"iam.gke.io/gcp-service-account": "ci-web@acme-ci.iam.gserviceaccount.com"}, r.Plan.Accounts[0].Annotations)
	assert.Equal(t, []string{"europe-west1-docker.pkg.dev"}, r.Plan.Hosts())
	assert.NotEmpty(t, r.Plan.Exchange.Audience, "the controller can log in")
}
