// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/internal/golden"
	"github.com/runner-identity/runner-identity/podspec"
)

func TestHookTemplate(t *testing.T) {
	aws := podspec.Of(awsPlan(), identity.Job, "website-job", []string{"website-registry"})
	chain := podspec.Of(chainPlan(), identity.Job, "website-job", nil)
	noAccount := aws
	noAccount.ServiceAccountName = ""
	for name, tc := range map[string]struct {
		user string
		plan v1alpha1.PodPlan
	}{
		"no template of the user's: credentials of workflows are not replaced": {plan: aws},
		"no account to carry the pull secrets":                                 {plan: noAccount},
		"a chain of roles":                                                     {plan: chain},
		"a template of the user's": {plan: aws, user: `
metadata:
  labels: {team: web}
spec:
  securityContext: {fsGroup: 1001}
  tolerations: [{key: ci, operator: Exists}]
  containers:
  - name: side-car
    image: docker.io/library/squid:6
  - name: $job
    env: [{name: GREETING, value: hello}]
    resources: {requests: {cpu: 500m}}
`},
		"a template of the user's without a job container, with pull secrets": {plan: aws, user: `
spec:
  serviceAccountName: website-job
  imagePullSecrets: [{name: theirs}]
`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := podspec.HookTemplate(tc.plan, []byte(tc.user))
			require.NoError(t, err)
			golden.Check(t, "hook/"+fileName(name), string(got))
			again, err := podspec.HookTemplate(tc.plan, got)
			require.NoError(t, err)
			assert.Equal(t, string(got), string(again), "a template that is given back changes")
		})
	}
}

func TestHookTemplateRefuses(t *testing.T) {
	plan := podspec.Of(awsPlan(), identity.Job, "website-job", nil)
	for name, tc := range map[string]struct{ user, want string }{
		"the label by which job pods are cleaned up": {
			`{metadata: {labels: {runner-pod: other}}}`,
			`hook template: metadata.labels: runner-pod is the hook's own, by which job pods are found and cleaned up; remove it`,
		},
		"another account":     {`{spec: {serviceAccountName: theirs}}`, `hook template: spec.serviceAccountName: is "theirs", wanted "website-job"`},
		"the account default": {`{spec: {serviceAccountName: default}}`, `hook template: spec.serviceAccountName: is "default", wanted "website-job"`},
		"another region": {
			`{spec: {containers: [{name: $job, env: [{name: AWS_REGION, value: us-east-1}]}]}}`,
			`hook template: container "$job": env "AWS_REGION": is "us-east-1", wanted "eu-west-1"`,
		},
		"what is malformed":     {`{spec: {containers: text}}`, `hook template: spec.containers: is a string, not a list`},
		"labels that are none":  {`{metadata: {labels: []}}`, `hook template: metadata.labels: is a list, not an object`},
		"metadata that is none": {`{metadata: 1}`, `hook template: metadata: is a number, not an object`},
		"a spec that is none":   {`{spec: 1}`, `hook template: spec: is a number, not an object`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := podspec.HookTemplate(plan, []byte(tc.user))
			assert.EqualError(t, err, tc.want)
		})
	}
}

func TestHookTemplateRefusesWhatIsNotYAML(t *testing.T) {
	for _, user := range []string{"{", "- a\n- b", "text", "spec: {}\nspec: {}\n", "\t"} {
		_, err := podspec.HookTemplate(v1alpha1.PodPlan{}, []byte(user))
		assert.ErrorContains(t, err, "hook template: ", "%q", user)
	}
}
