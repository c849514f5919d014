// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
)

func TestTheConfigInAHomeDirectorySaysWhatTheVariablesSay(t *testing.T) {
	r := request(t, as(identity.Job))
	files, err := aws.New().HomeFiles(r)
	require.NoError(t, err)
	plan, err := aws.New().Plan(r)
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, ".aws/config", files[0].Path)
	for name, key := range map[string]string{
		"AWS_ROLE_ARN": "role_arn", "AWS_ROLE_SESSION_NAME": "role_session_name", "AWS_WEB_IDENTITY_TOKEN_FILE": "web_identity_token_file", "AWS_REGION": "region",
	} {
		found := false
		for _, e := range plan.Env {
			found = found || e.Name == name
			if e.Name == name {
				assert.Contains(t, files[0].Content, key+" = "+e.Value+"\n")
			}
		}
		assert.True(t, found, name)
	}
}

func TestTheConfigInAHomeDirectoryHasTheChainOfThePlan(t *testing.T) {
	files, err := aws.New().HomeFiles(request(t, as(identity.Job), with(func(s *v1alpha1.AWSDefaults) { s.Chain = []string{deployARN} })))
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Contains(t, files[0].Content, "role_arn = "+deployARN)
	assert.Contains(t, files[0].Content, "source_profile = ")
}

func TestThereIsNoConfigForAHomeDirectoryWhereThePodItselfIsTheIdentity(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.AWSDefaults){
		"EKS Pod Identity": func(s *v1alpha1.AWSDefaults) { s.Mode, s.RoleARN = v1alpha1.AWSPodIdentity, "" },
		"the EKS webhook":  func(s *v1alpha1.AWSDefaults) { s.Binding = v1alpha1.AWSAnnotate },
	} {
		t.Run(name, func(t *testing.T) {
			files, err := aws.New().HomeFiles(request(t, as(identity.Job), with(change)))
			require.NoError(t, err)
			assert.Empty(t, files)
		})
	}
}

func TestABadRequestHasNoConfigForAHomeDirectory(t *testing.T) {
	_, err := aws.New().HomeFiles(request(t, with(func(s *v1alpha1.AWSDefaults) { s.RoleARN = "ci" })))
	assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
}
