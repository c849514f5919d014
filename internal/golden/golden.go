// SPDX-License-Identifier: Apache-2.0

// Package golden compares what tests get with files that a reader can paste. "go test ./some/package -update" writes the files.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A flag has to be there before a test runs, so this is a variable of the package, and the package is for tests alone.
var update = flag.Bool("update", false, "write the golden files in testdata")

// Check compares with a file in testdata.
func Check(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the tests with -update")
	assert.Equal(t, string(want), got)
}
