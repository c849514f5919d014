// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/config/crd"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestSamplesAreAccepted(t *testing.T) {
	a := newAPIServer(t)
	files, err := filepath.Glob("../../config/samples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		for _, o := range documents(t, file) {
			if _, ours := resources[o.GetKind()]; !ours {
				continue
			}
			t.Run(filepath.Base(file)+" "+o.GetKind(), func(t *testing.T) { a.accepts(t, o) })
		}
	}
}

func (a apiServer) accepts(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	created, err := a.tryOut(o)
	require.NoError(t, err)
	offline := o.DeepCopy().Object
	require.NoError(t, crd.Validate(offline), "render says the same as the API server")
	assert.Equal(t, asJSON(t, offline["spec"]), asJSON(t, created.Object["spec"]), "render fills in the same defaults as the API server")
	return created
}

// TestLegacyManifestsOfARCMoveByTheirAPIVersion covers reference rows ARC 16 and 200.
func TestLegacyManifestsOfARCMoveByTheirAPIVersion(t *testing.T) {
	a := newAPIServer(t)
	for _, file := range []string{"testdata/arc-16.yaml", "testdata/arc-full.yaml"} {
		t.Run(file, func(t *testing.T) {
			for _, o := range documents(t, file) {
				before := asJSON(t, o.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"]).(map[string]any)
				o.SetAPIVersion(v1alpha1.GroupVersion.String())

				after, _, err := unstructured.NestedMap(a.accepts(t, o).Object, "spec", "template", "spec")

				require.NoError(t, err)
				assert.Subset(t, asJSON(t, after), before, "nothing is lost and nothing is changed")
				typed := v1alpha1.RunnerSpec{}
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(after, &typed, true))
				assert.Equal(t, len(before["volumes"].([]any)), len(typed.Volumes))
				assert.Equal(t, len(before["env"].([]any)), len(typed.Env))
			}
		})
	}
}

// asJSON makes objects comparable that were read by different libraries: numbers have one type.
func asJSON(t *testing.T, v any) (out any) {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

func TestDefaultsAreFilledIn(t *testing.T) {
	a := newAPIServer(t)
	cases := map[string]struct {
		object *unstructured.Unstructured
		field  []string
		want   any
	}{
		"one runner":                       {runner(t, "organization: acme"), []string{"spec", "replicas"}, int64(1)},
		"delivery by admission":            {runner(t, "organization: acme\nidentityProvider: aws\nidentity: {}"), []string{"spec", "template", "spec", "identity", "delivery"}, "Admission"},
		"no identity for those without":    {runner(t, "organization: acme"), []string{"spec", "template", "spec", "identity"}, nil},
		"the account default of namespace": {object(t, "IdentityProvider", "plugin: aws\nnamespaceDefaults: [{name: a, selector: {}}]"), []string{"spec", "namespaceDefaults"}, []any{map[string]any{"name": "a", "selector": map[string]any{}, "serviceAccount": "default"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, _, err := unstructured.NestedFieldCopy(a.accepts(t, tc.object).Object, tc.field...)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

// TestDefinitionsFitIntoAnAnnotation: kubectl apply without --server-side keeps the whole object in one, which ARC's definitions
// are too large for.
func TestDefinitionsFitIntoAnAnnotation(t *testing.T) {
	files, err := filepath.Glob("../../config/crd/runner-identity.dev_*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Less(t, len(raw), 250_000, file)
		asJSON, err := json.Marshal(parse(t, string(raw)).Object)
		require.NoError(t, err)
		assert.Less(t, len(asJSON), 262_144, file)
	}

	out, err := cluster.Shared(t).Kubectl(t.Context(), "apply", "--server-side=false", "-k", "../../config/crd")
	require.NoError(t, err)
	assert.Contains(t, out, "runnerdeployments.runner-identity.dev configured")
}
