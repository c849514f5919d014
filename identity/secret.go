// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"log/slog"
	"time"
)

const redacted = "[redacted]"

// A Secret is a string that no verb, encoder or logger prints. The zero Secret is empty.
type Secret struct {
	// Behind a pointer: %v of a struct that holds a Secret in an unexported field cannot call String and would print the
	// value; so it prints an address.
	value *string
}

// NewSecret makes a Secret of s.
func NewSecret(s string) Secret { return Secret{value: &s} }

// Reveal gives the string. Call it where it leaves the process, and nowhere else.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether the secret is empty.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String is "[redacted]".
func (Secret) String() string { return redacted }

// GoString is "[redacted]".
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb: %x and %d would otherwise reach the fields.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText is "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON is "[redacted]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue is "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// A Credential is a registry login.
type Credential struct {
	Username string
	Password Secret
	// Expires is when the registry stops taking the login, as its issuer said. Never zero.
	Expires time.Time
}
