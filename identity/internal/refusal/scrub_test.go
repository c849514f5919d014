// SPDX-License-Identifier: Apache-2.0

package refusal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/runner-identity/runner-identity/identity"
)

func TestAMessageIsOneShortLineWithoutSecrets(t *testing.T) {
	for message, want := range map[string]string{
		"Value 'hunter2' is wrong.":                     "Value '[redacted]' is wrong",
		"cannot parse eyJhbGciOiJub25lIn0.eyJh.c2ln":    "cannot parse [redacted]",
		"not ya29.d.abc_-1, and not eyJhbGciOiJub25lI!": "not [redacted], and not [redacted]!",
		"two\n\tlines":              "two lines",
		strings.Repeat("é", 200):    strings.Repeat("é", 150) + " ...",
		strings.Repeat("no ", 2000): strings.Repeat("no ", 100) + " ...",
	} {
		assert.Equal(t, want, Scrub(message, identity.NewSecret("hunter2\n"), identity.Secret{}))
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("Value 'secret-value' is wrong", "secret-value")
	f.Fuzz(func(t *testing.T, message, secret string) {
		got := Scrub(message, identity.NewSecret(secret))
		assert.LessOrEqual(t, len(got), maxMessage+len(" ..."))
		assert.NotContains(t, got, "\n")
		assert.NotContains(t, got, "eyJ")
	})
}
