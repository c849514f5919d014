// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terraformConfig keeps its state in Cloud Storage: the one client of Google that Terraform has built in.
const terraformConfig = `terraform {
  backend "gcs" {
    bucket                  = "state"
    storage_custom_endpoint = "ENDPOINT/storage/v1/"
  }
}
`

// state is a Terraform state with one output.
const state = `{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"a","outputs":{"who":{"value":"acme","type":"string"}},"resources":[]}`

// storage is Cloud Storage with a state in its bucket. It takes nobody without a token, and remembers the last one.
type storage struct {
	mu     sync.Mutex
	bearer string
}

func (s *storage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.bearer = bearer
	w.Header().Set("Content-Type", "application/json")
	object := fmt.Sprintf(`{"kind":"storage#object","name":"default.tfstate","bucket":"state","size":"%d","generation":"1"}`, len(state))
	switch {
	case strings.HasSuffix(r.URL.Path, "/o"):
		_, _ = fmt.Fprintf(w, `{"kind":"storage#objects","items":[%s]}`, object)
	case strings.Contains(r.URL.Path, "/o/") && r.URL.Query().Get("alt") != "media":
		_, _ = w.Write([]byte(object))
	default:
		_, _ = w.Write([]byte(state))
	}
}

func TestTerraformReachesItsStateAsThePlannedIdentity(t *testing.T) {
	c := newCloud(t)
	for name, r := range modes(t, c) {
		t.Run(name, func(t *testing.T) {
			bucket := &storage{}
			api := httptest.NewServer(bucket)
			t.Cleanup(api.Close)
			pod := start(t, r, c.token(r))
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(strings.Replace(terraformConfig, "ENDPOINT", api.URL, 1)), 0o644))
			pod.env["CHECKPOINT_DISABLE"] = "1"
			_, err := pod.run("", "terraform", "-chdir="+dir, "init", "-input=false", "-no-color")
			require.NoError(t, err)
			who, err := pod.run("", "terraform", "-chdir="+dir, "output", "-raw", "-no-color", "who")
			require.NoError(t, err)
			assert.Equal(t, "acme", who)
			bucket.mu.Lock()
			defer bucket.mu.Unlock()
			c.pulls(t, r, "oauth2accesstoken", bucket.bearer)
		})
	}
}
