// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const roles = "../roles.example.yaml"

// apiServer answers as an API server does that lets a token read its issuer and keys.
func apiServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer may-read" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": "https://kubernetes.default.svc.cluster.local"})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func write(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

func TestClusterIsAskedForItsIssuer(t *testing.T) {
	server := apiServer(t)
	o, err := parse([]string{"-roles", roles, "-server", server, "-token-file", write(t, "may-read"), "-client-ids", "a,b", "-login-lifetime", "30s"})
	require.NoError(t, err)
	c, err := o.config(t.Context())
	require.NoError(t, err)
	require.Len(t, c.Issuers, 1)
	assert.Equal(t, "https://kubernetes.default.svc.cluster.local", c.Issuers[0].URL)
	assert.Equal(t, server+"/openid/v1/jwks", c.Issuers[0].JWKS)
	assert.Equal(t, []string{"a", "b"}, c.Issuers[0].ClientIDs)
	assert.Equal(t, "30s", c.LoginLifetime.String())
	assert.Contains(t, c.Roles, "arn:aws:iam::111122223333:role/ci")
}

func TestMistakeInTheOptionsIsNamed(t *testing.T) {
	server := apiServer(t)
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"no roles file":                 {nil, "-roles: must name a YAML file"},
		"a roles file that is none":     {[]string{"-roles", "nowhere.yaml"}, "-roles: open nowhere.yaml"},
		"two clusters":                  {[]string{"-roles", roles, "-kubeconfig", "a", "-server", "b"}, "only one of them"},
		"no issuer anywhere":            {[]string{"-roles", roles}, "-kubeconfig or -server must be given"},
		"a kubeconfig that is none":     {[]string{"-roles", roles, "-kubeconfig", "nowhere"}, "-kubeconfig nowhere"},
		"a token that may read nothing": {[]string{"-roles", roles, "-server", server, "-token-file", write(t, "may-not")}, "403 Forbidden"},
		"a field that does not exist":   {[]string{"-roles", write(t, "rolls: {}")}, `unknown field "rolls"`},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, run(t.Context(), tt.args), tt.want) })
	}
}
