// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/identity"
)

const password = "correct-horse-battery-staple"

// holder has secrets where no method of Secret can be called by package fmt: in unexported fields.
type holder struct {
	Open   identity.Secret
	hidden identity.Secret
	deep   struct{ s identity.Secret }
	list   []identity.Secret
	byName map[string]identity.Secret
	any    any
	ptr    *identity.Secret
}

func newHolder() holder {
	s := identity.NewSecret(password)
	h := holder{Open: s, hidden: s, list: []identity.Secret{s}, byName: map[string]identity.Secret{"a": s}, any: s, ptr: &s}
	h.deep.s = s
	return h
}

func TestASecretIsNotPrintedByAnyVerb(t *testing.T) {
	secret := identity.NewSecret(password)
	for _, flags := range []string{"", "+", "#", " ", "0", "-", "40", ".3", "#+"} {
		for _, verb := range "vsqxXdotTbcUeEfFgGp" {
			format := "%" + flags + string(verb)
			t.Run(format, func(t *testing.T) {
				h := newHolder()
				for _, v := range []any{secret, &secret, h, &h, []identity.Secret{secret}, map[string]any{"k": secret}, identity.Credential{Password: secret}} {
					got := fmt.Sprintf(format, v)
					assert.NotContains(t, got, password)
					assert.NotContains(t, got, fmt.Sprintf("%x", password))
					assert.NotContains(t, got, fmt.Sprintf("%X", password))
					assert.NotContains(t, got, fmt.Sprintf("%d", []byte(password)))
				}
			})
		}
	}
}

func TestASecretSaysThatItIsRedacted(t *testing.T) {
	secret := identity.NewSecret(password)
	for _, format := range []string{"%v", "%s", "%q", "%x", "%d", "%#v", "%+v"} {
		assert.Equal(t, "[redacted]", fmt.Sprintf(format, secret), format)
	}
	assert.Equal(t, "[redacted]", secret.String())
	assert.Equal(t, "[redacted]", secret.GoString())
	assert.Equal(t, "[redacted]", errors.New(secret.String()).Error())
}

func TestASecretIsNotEncoded(t *testing.T) {
	h := newHolder()
	credential := identity.Credential{Username: "AWS", Password: identity.NewSecret(password)}
	for name, encode := range map[string]func(any) ([]byte, error){
		"JSON":         json.Marshal,
		"YAML":         yaml.Marshal,
		"text in JSON": func(any) ([]byte, error) { return json.Marshal(map[identity.Secret]int{h.Open: 1}) },
		"XML":          func(any) ([]byte, error) { return xml.Marshal(h.Open) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range []any{h, &h, credential, &credential} {
				b, err := encode(v)
				require.NoError(t, err)
				assert.NotContains(t, string(b), password)
				assert.Contains(t, string(b), "[redacted]")
			}
		})
	}
}

func TestASecretIsNotLogged(t *testing.T) {
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			h := newHolder()
			slog.New(handler(&out)).Info("login", "secret", h.Open, "pointer", h.ptr, "holder", h, "credential", identity.Credential{Password: h.Open},
				slog.Group("group", "secret", h.Open))
			assert.NotContains(t, out.String(), password)
			assert.Contains(t, out.String(), "[redacted]")
		})
	}
}

func TestASecretIsNotInAnErrorThatWrapsIt(t *testing.T) {
	err := identity.Errorf(identity.Denied, "login with %v and %v: %w", identity.NewSecret(password), newHolder(), errors.New("refused"))
	assert.NotContains(t, err.Error(), password)
	assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), password)
}

func TestRevealGivesTheSecretBack(t *testing.T) {
	assert.Equal(t, password, identity.NewSecret(password).Reveal())
	assert.False(t, identity.NewSecret(password).IsZero())
}

func TestTheZeroSecretIsEmptyAndStillRedacted(t *testing.T) {
	var zero identity.Secret
	assert.Empty(t, zero.Reveal())
	assert.True(t, zero.IsZero())
	assert.True(t, identity.NewSecret("").IsZero())
	assert.Equal(t, "[redacted]", fmt.Sprint(zero))
}
