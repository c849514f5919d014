// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
)

// now is the time of all tests.
func now() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }

// jwt makes a token of a header and claims in JSON. Its signature is none: nothing here verifies one.
func jwt(t testing.TB, header, body string) identity.Secret {
	t.Helper()
	enc := base64.RawURLEncoding.EncodeToString
	return identity.NewSecret(enc([]byte(header)) + "." + enc([]byte(body)) + "." + enc([]byte("signature-of-no-worth")))
}

// token is one as the API server makes it for the runner's account; change changes header and claims.
func token(t testing.TB, change ...func(header, claims map[string]any)) identity.Secret {
	t.Helper()
	header := map[string]any{"alg": "RS256", "kid": "key-1"}
	body := map[string]any{
		"iss": issuer, "sub": runnerSub, "aud": []string{"sts.amazonaws.com"},
		"iat": now().Unix(), "exp": now().Add(time.Hour).Unix(),
	}
	for _, c := range change {
		c(header, body)
	}
	h, err := json.Marshal(header)
	require.NoError(t, err)
	b, err := json.Marshal(body)
	require.NoError(t, err)
	return jwt(t, string(h), string(b))
}

func claim(name string, value any) func(header, claims map[string]any) {
	return func(_, claims map[string]any) { claims[name] = value }
}

// replaceURL puts a URL in for each %s.
func replaceURL(template, url string) string { return strings.ReplaceAll(template, "%s", url) }
