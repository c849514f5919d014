// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func tokenFor(life time.Duration) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, now.Add(life).Unix())) + ".sig"
}

func TestTheProbeTellsATokenOnce(t *testing.T) {
	w := watched{path: filepath.Join(t.TempDir(), "token")}
	require.NoError(t, os.WriteFile(w.path, []byte(tokenFor(time.Hour)), 0o600))

	news, is := w.look(now)
	assert.True(t, is)
	assert.Empty(t, news.Trouble)
	assert.Equal(t, "0600", news.Mode)
	_, is = w.look(now)
	assert.False(t, is, "the same token is no news")

	require.NoError(t, os.WriteFile(w.path, []byte(tokenFor(2*time.Hour)), 0o600))
	news, is = w.look(now)
	assert.True(t, is)
	assert.Equal(t, 3, news.Reads)
}

func TestTheProbeTellsWhatIsWrongWithATokenFile(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		absent  bool
		trouble string
	}{
		"missing":         {absent: true, trouble: "no such file"},
		"empty":           {trouble: "0 bytes that are no token"},
		"cut off":         {content: tokenFor(time.Hour)[:12], trouble: "12 bytes that are no token"},
		"expired":         {content: tokenFor(0), trouble: "expired at 2026-07-01 12:00:00"},
		"not base64":      {content: "a.!.b", trouble: "not base64"},
		"not JSON claims": {content: "a.YQ.b", trouble: "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			w := watched{path: filepath.Join(t.TempDir(), "token")}
			if !tc.absent {
				require.NoError(t, os.WriteFile(w.path, []byte(tc.content), 0o600))
			}
			news, is := w.look(now)
			assert.True(t, is)
			assert.Contains(t, news.Trouble, tc.trouble)
			_, is = w.look(now)
			assert.False(t, is, "told once")
		})
	}
}

func TestATokenThatExpiresWhileItIsWatchedIsTrouble(t *testing.T) {
	w := watched{path: filepath.Join(t.TempDir(), "token")}
	require.NoError(t, os.WriteFile(w.path, []byte(tokenFor(time.Minute)), 0o600))
	_, _ = w.look(now)

	news, is := w.look(now.Add(time.Minute))

	assert.True(t, is)
	assert.Contains(t, news.Trouble, "expired")
}
