// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// TestWhatTheAPIServerTakesCanBeRead: one object that Go cannot decode stops the informer of its kind, so one tenant's mistake
// would stop the runners of all. Each of these is either refused, or read.
func TestWhatTheAPIServerTakesCanBeRead(t *testing.T) {
	a := newAPIServer(t)
	cases := map[string]*unstructured.Unstructured{
		"a port beyond 32 bits":                  runner(t, "organization: acme\ncontainers: [{name: runner, ports: [{containerPort: 99999999999}]}]"),
		"a mode with a fraction":                 runner(t, "organization: acme\nvolumes: [{name: v, projected: {defaultMode: 4.5, sources: []}}]"),
		"a quantity with a word":                 runner(t, "organization: acme\nvolumeSizeLimit: ten"),
		"a quantity with a huge exponent":        runner(t, "organization: acme\nvolumeSizeLimit: 1e999999999999"),
		"a resource with a word":                 runner(t, "organization: acme\nresources: {limits: {cpu: many}}"),
		"a quantity with a fraction as exponent": runner(t, "organization: acme\nvolumeSizeLimit: 1e.5"),
		"a quantity without a digit":             runner(t, "organization: acme\nresources: {limits: {cpu: '.'}}"),
		"a duration without a unit":              runner(t, "organization: acme\nidentityProvider: aws\nidentity: {aws: {tokenLifetime: '3600'}}"),
		"a number of seconds as text":            runner(t, "organization: acme\nterminationGracePeriodSeconds: '30'"),
		"more replicas than 32 bits":             object(t, "RunnerDeployment", "replicas: 99999999999\ntemplate: {spec: {organization: acme}}"),
		"a port by a name with 100 digits":       runner(t, "organization: acme\ncontainers: [{name: runner, livenessProbe: {httpGet: {port: 99999999999}}}]"),
		"a group beyond 64 bits":                 runner(t, "organization: acme\nsecurityContext: {fsGroup: 1e30}"),
		"seconds beyond 32 bits":                 runner(t, "organization: acme\ninitContainers: [{name: i, livenessProbe: {periodSeconds: 99999999999}}]"),
	}
	for name, o := range cases {
		t.Run(name, func(t *testing.T) {
			created, err := a.tryOut(o)
			if err != nil {
				assert.ErrorContains(t, err, "invalid")
				return
			}
			raw, err := created.MarshalJSON()
			require.NoError(t, err)
			assert.NoError(t, json.Unmarshal(raw, &v1alpha1.RunnerDeployment{}))
		})
	}
}
