// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
)

func TestFilesForAHomeDirectory(t *testing.T) {
	files, err := gcp.New().HomeFiles(federation(t, set{"quotaProject": "acme-billing"}))
	require.NoError(t, err)
	golden(t, "home.yaml", files)
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
