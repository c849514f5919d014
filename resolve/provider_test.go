// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/resolve"
)

func TestCheckProvider(t *testing.T) {
	providers, err := identity.NewSet(aws.New(), gcp.New(), echo{"mine"})
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		spec   v1alpha1.IdentityProviderSpec
		reason identity.Reason
		want   string
	}{
		"nothing but a plug-in": {spec: v1alpha1.IdentityProviderSpec{Plugin: "aws"}},
		"defaults that leave the principal to identities": {spec: v1alpha1.IdentityProviderSpec{Plugin: "aws", AWS: &v1alpha1.AWSDefaults{
			AWSIdentity: v1alpha1.AWSIdentity{Region: "eu-west-1", Binding: v1alpha1.AWSAnnotate},
		}}},
		"a Google mode whose provider identities have to name": {spec: v1alpha1.IdentityProviderSpec{Plugin: "gcp", GCP: &v1alpha1.GCPDefaults{
			GCPIdentity: v1alpha1.GCPIdentity{Mode: v1alpha1.GCPFederation},
		}}},
		"parameters of a plug-in that is not built in": {spec: v1alpha1.IdentityProviderSpec{Plugin: "mine", Parameters: map[string]string{"flavour": "x"}}},
		"a plug-in that is in another build": {
			v1alpha1.IdentityProviderSpec{Plugin: "vault"}, resolve.ProviderNotFound, `plugin: identity provider "vault" is not in this build, which has: aws, gcp, mine`,
		},
		"parameters where the plug-in has settings of its own": {
			v1alpha1.IdentityProviderSpec{Plugin: "aws", Parameters: map[string]string{"region": "eu-west-1"}}, identity.Invalid,
			`parameters: are set, but the plug-in is "aws", whose settings are in aws`,
		},
		"an endpoint that is no URL": {
			v1alpha1.IdentityProviderSpec{Plugin: "aws", AWS: &v1alpha1.AWSDefaults{Endpoints: v1alpha1.AWSEndpoints{STS: "sts.internal"}}},
			identity.Invalid, "aws.endpoints.sts: is not the URL of a service",
		},
		"a selector that is none": {
			v1alpha1.IdentityProviderSpec{Plugin: "aws", AllowedNamespaces: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Near"}},
			}}, identity.Invalid, `allowedNamespaces: "Near" is not a valid label selector operator`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := resolve.CheckProvider(providers, &v1alpha1.IdentityProvider{Spec: tc.spec})
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
			assert.Equal(t, tc.reason, identity.ReasonOf(err))
		})
	}
}
