// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/internal/golden"
)

func TestFilesForAHomeDirectory(t *testing.T) {
	files, err := gcp.New().HomeFiles(federation(t, set{"quotaProject": "acme-billing"}))
	require.NoError(t, err)
	b, err := yaml.Marshal(files)
	require.NoError(t, err)
	golden.Check(t, "home.yaml", string(b))
}

func TestWithTheMetadataServerThereIsNothingToReadInAHomeDirectory(t *testing.T) {
	files, err := gcp.New().HomeFiles(onGKE(t))
	require.NoError(t, err)
	assert.Empty(t, files)
}

func TestABadRequestHasNoFilesForAHomeDirectory(t *testing.T) {
	_, err := gcp.New().HomeFiles(federation(t, set{"serviceAccount": "ci"}))
	assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
}
