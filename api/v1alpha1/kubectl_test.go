// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

// put creates an object for good, and gives it a status.
func (a apiServer) put(o *unstructured.Unstructured, status string) {
	a.t.Helper()
	created, err := a.kind(o.GetKind()).Create(a.t.Context(), o, metav1.CreateOptions{})
	require.NoError(a.t, err)
	created.Object["status"] = parse(a.t, status).Object
	_, err = a.kind(o.GetKind()).UpdateStatus(a.t.Context(), created, metav1.UpdateOptions{})
	require.NoError(a.t, err)
	a.t.Cleanup(func() {
		_ = a.kind(o.GetKind()).Delete(context.WithoutCancel(a.t.Context()), o.GetName(), metav1.DeleteOptions{})
	})
}

func (a apiServer) kubectl(args ...string) string {
	a.t.Helper()
	out, err := cluster.Shared(a.t).Kubectl(a.t.Context(), append([]string{"--namespace", a.namespace}, args...)...)
	require.NoError(a.t, err)
	return out
}

func TestKubectlScaleWorks(t *testing.T) {
	a := newAPIServer(t)
	a.put(runner(t, "organization: acme"), `{replicas: 1, readyReplicas: 1, updatedReplicas: 1, selector: "runner-identity.dev/runner-deployment=x"}`)

	a.kubectl("scale", "rid/x", "--current-replicas=1", "--replicas=3")

	o, err := a.kind("RunnerDeployment").Get(t.Context(), "x", metav1.GetOptions{})
	require.NoError(t, err)
	replicas, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	assert.Equal(t, int64(3), replicas)
	scale, err := a.kind("RunnerDeployment").Get(t.Context(), "x", metav1.GetOptions{}, "scale")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"replicas": int64(1), "selector": "runner-identity.dev/runner-deployment=x"}, scale.Object["status"],
		"what a HorizontalPodAutoscaler reads")
}

const conditions = `conditions: [{type: Ready, status: "False", reason: IdentityDenied, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]`

func TestKubectlGetShowsWhatAPersonAsksFirst(t *testing.T) {
	a := newAPIServer(t)
	a.put(runner(t, "organization: acme\nidentityProvider: aws"), "replicas: 2\nreadyReplicas: 1\nupdatedReplicas: 2\n"+conditions)
	a.put(object(t, "RunnerIdentity", "identityProvider: aws"), "principal: arn:aws:iam::111122223333:role/ci\n"+conditions)
	a.put(object(t, "IdentityProvider", "plugin: aws"), conditions)
	cases := map[string]struct {
		resource string
		want     [][]string
	}{
		"RunnerDeployment": {"rid", [][]string{
			{"NAME", "READY", "PROVIDER", "DESIRED", "REPLICAS", "RUNNING", "REASON", "AGE"},
			{"x", "False", "aws", "1", "2", "1", "IdentityDenied"},
		}},
		"RunnerIdentity": {"rident", [][]string{
			{"NAME", "READY", "PROVIDER", "PRINCIPAL", "REASON", "AGE"},
			{"x", "False", "aws", "arn:aws:iam::111122223333:role/ci", "IdentityDenied"},
		}},
		"IdentityProvider": {"idp", [][]string{
			{"NAME", "READY", "PLUGIN", "AGE"},
			{"x", "False", "aws"},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSpace(a.kubectl("get", tc.resource)), "\n")
			require.Len(t, lines, 2)
			assert.Equal(t, tc.want[0], strings.Fields(lines[0]))
			fields := strings.Fields(lines[1])
			assert.Equal(t, tc.want[1], fields[:len(fields)-1], "all but the age")
		})
	}
	assert.Contains(t, a.kubectl("get", "runner-identity"), "runnerdeployment.runner-identity.dev/x", "the category lists all kinds")
}

func TestKubectlExplainKnowsOurFields(t *testing.T) {
	a := newAPIServer(t)

	assert.Contains(t, a.kubectl("explain", "rid.spec.template.spec.identity.aws.roleARN"), "roleARN is the IAM role, such as")
	assert.Contains(t, a.kubectl("explain", "rid.spec.template.spec.containers"), "The one called runner is the runner")
	assert.Contains(t, a.kubectl("explain", "rid.spec.template.spec.githubAPICredentialsFrom.secretRef"), "github_app_installation_id")
}

func TestTwoWritersOfConditionsKeepEachOthers(t *testing.T) {
	a := newAPIServer(t)
	a.put(object(t, "RunnerIdentity", "identityProvider: aws"), `{}`)
	for _, kind := range []string{"Ready", "PrincipalVerified"} {
		o := object(t, "RunnerIdentity", "{}")
		delete(o.Object, "spec")
		o.Object["status"] = parse(t, strings.ReplaceAll(conditions, "Ready", kind)).Object
		_, err := a.kind("RunnerIdentity").ApplyStatus(t.Context(), "x", o, metav1.ApplyOptions{FieldManager: kind})
		require.NoError(t, err)
	}

	o, err := a.kind("RunnerIdentity").Get(t.Context(), "x", metav1.GetOptions{})
	require.NoError(t, err)
	got, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, "Ready", got[0].(map[string]any)["type"])
	assert.Equal(t, "PrincipalVerified", got[1].(map[string]any)["type"])
}
