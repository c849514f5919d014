// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAWordOfACommandIsOneWordForAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not on this machine")
	}
	for _, word := range []string{"https://oidc.acme.example/cluster", "a b", "$(touch x)", "`id`", "it's", "a;b", `"`, "a\nb", "*", "-x", ""} {
		out, err := exec.CommandContext(t.Context(), sh, "-c", "printf %s "+quoted(word)).Output()
		require.NoError(t, err)
		assert.Equal(t, word, string(out))
	}
}
