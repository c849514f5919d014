// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

// claims are those of a pod's token that clouds look at.
type claims struct {
	Subject    string   `json:"sub"`
	Audience   []string `json:"aud"`
	Kubernetes struct {
		Pod struct {
			Name string `json:"name"`
		} `json:"pod"`
	} `json:"kubernetes.io"`
}

// verified checks a token's signature against the published keys, as a cloud does.
func verified(t *testing.T, c *cluster.Cluster, token string) (out claims) {
	t.Helper()
	raw, err := c.JWKS(t.Context())
	require.NoError(t, err)
	var keys jose.JSONWebKeySet
	require.NoError(t, json.Unmarshal(raw, &keys))
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	require.NoError(t, err)
	require.NoError(t, parsed.Claims(keys, &out))
	return out
}
