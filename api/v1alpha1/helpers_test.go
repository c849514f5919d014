// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m, "../../config/crd") }

// resources are the plural names of the kinds.
var resources = map[string]string{
	"RunnerDeployment": "runnerdeployments",
	"RunnerIdentity":   "runneridentities",
	"IdentityProvider": "identityproviders",
}

// An apiServer creates objects in one namespace, strictly: an unknown field is an error.
type apiServer struct {
	t         *testing.T
	client    dynamic.Interface
	namespace string
}

func newAPIServer(t *testing.T) apiServer {
	t.Helper()
	c := cluster.Shared(t)
	client, err := dynamic.NewForConfig(c.Config)
	require.NoError(t, err)
	return apiServer{t: t, client: client, namespace: c.Namespace(t)}
}

func (a apiServer) kind(kind string) dynamic.ResourceInterface {
	r := a.client.Resource(v1alpha1.GroupVersion.WithResource(resources[kind]))
	if kind == "IdentityProvider" {
		return r
	}
	return r.Namespace(a.namespace)
}

// tryOut asks the API server to create an object, and to forget it then.
func (a apiServer) tryOut(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return a.kind(o.GetKind()).Create(a.t.Context(), o, metav1.CreateOptions{DryRun: []string{"All"}, FieldValidation: "Strict"})
}

func parse(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(manifest), &o.Object), manifest)
	return o
}

// object makes an object of one of our kinds from its spec.
func object(t *testing.T, kind, spec string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, "apiVersion: runner-identity.dev/v1alpha1\nkind: "+kind+"\nmetadata: {name: x}\nspec:\n"+indent(spec, "  "))
}

// runner makes a RunnerDeployment from its template's spec.
func runner(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "RunnerDeployment", "template:\n  spec:\n"+indent(spec, "    "))
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by)
}

// documents reads the objects in a YAML file.
func documents(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []*unstructured.Unstructured
	for document := range strings.SplitSeq(string(raw), "\n---\n") {
		if o := parse(t, document); o.GetKind() != "" {
			all = append(all, o)
		}
	}
	return all
}
