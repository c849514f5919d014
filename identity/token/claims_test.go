// SPDX-License-Identifier: Apache-2.0

package token_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/token"
)

// jwt makes a token of a header and claims in JSON. Its signature is none: nothing here verifies one.
func jwt(header, body string) identity.Secret {
	enc := base64.RawURLEncoding.EncodeToString
	return identity.NewSecret(enc([]byte(header)) + "." + enc([]byte(body)) + "." + enc([]byte("signature-of-no-worth")))
}

func TestClaimsAreDecoded(t *testing.T) {
	c, err := token.Decode(jwt(`{"alg":"RS256","kid":"k1"}`, `{"iss":"https://i.example.com","sub":"s","aud":["a","b"],"iat":1700000000,"exp":1700003600.5}`))
	require.NoError(t, err)
	assert.Equal(t, "https://i.example.com", c.Issuer)
	assert.Equal(t, "s", c.Subject)
	assert.Equal(t, []string{"a", "b"}, c.Audience)
	assert.Equal(t, int64(1700000000), c.IssuedAt.Unix())
	assert.Equal(t, int64(1700003600), c.Expires.Unix())
	assert.Equal(t, "k1", c.KeyID)
	assert.Equal(t, "RS256", c.Algorithm)
}

func TestAnAudienceMayBeASingleText(t *testing.T) {
	c, err := token.Decode(jwt(`{}`, `{"aud":"a"}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, c.Audience)
	assert.True(t, c.Expires.IsZero())
}

func TestTokensThatAreNoneAreRefusedWithoutBeingShown(t *testing.T) {
	for name, secret := range map[string]identity.Secret{
		"nothing":                 {},
		"a word":                  identity.NewSecret("hunter2"),
		"two parts":               identity.NewSecret("hunter2.hunter2"),
		"parts that are not text": identity.NewSecret("hunter2!.hunter2!.hunter2!"),
		"a header that is a list": jwt(`["hunter2"]`, `{}`),
		"claims that are a text":  jwt(`{}`, `"hunter2"`),
		"an expiry that is text":  jwt(`{}`, `{"exp":"hunter2"}`),
		"an expiry out of range":  jwt(`{}`, `{"exp":1e300}`),
		"a negative expiry":       jwt(`{}`, `{"exp":-1}`),
		"an audience of objects":  jwt(`{}`, `{"aud":[{"hunter2":1}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := token.Decode(secret)
			require.Error(t, err)
			assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func FuzzClaims(f *testing.F) {
	for _, s := range []string{"", "a.b.c", "e30.e30.", "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2kiLCJhdWQiOiJhIiwiZXhwIjoxfQ.c2ln"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := token.Decode(identity.NewSecret(s))
		if err != nil {
			assert.Equal(t, token.Claims{}, c)
			assert.False(t, len(s) > 12 && strings.Contains(err.Error(), s), "the token is shown")
		}
	})
}
