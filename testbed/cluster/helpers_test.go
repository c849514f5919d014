// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

// claims are those of a token that clouds look at.
type claims struct {
	Issuer   string   `json:"iss"`
	Subject  string   `json:"sub"`
	Audience []string `json:"aud"`
}

// verified checks a token's signature against the published keys, as a cloud does.
func verified(t *testing.T, c *cluster.Cluster, token string) claims {
	t.Helper()
	raw, err := c.JWKS(t.Context())
	require.NoError(t, err)
	var keys jose.JSONWebKeySet
	require.NoError(t, json.Unmarshal(raw, &keys))
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	require.NoError(t, err)
	var out claims
	require.NoError(t, parsed.Claims(keys, &out))
	return out
}

// contextCancelledBy is done once a file is there.
func contextCancelledBy(t *testing.T, path string) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if _, err := os.Stat(path); err == nil {
				cancel()
			}
			<-tick.C
		}
	}()
	return ctx, cancel
}
