// SPDX-License-Identifier: Apache-2.0

package cmd_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWaitOutlastsAMetadataServerThatDoesNotKnowThePodYet(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 || r.Header.Get("Metadata-Flavor") != "Google" {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte(`{"access_token":"ya29.secret"}`))
	}))
	defer server.Close()
	out, err := runCommand(t, "", "wait", "--url", server.URL, "--header", "Metadata-Flavor: Google")
	require.NoError(t, err)
	assert.Equal(t, int64(3), asked.Load())
	assert.Contains(t, out, "answers")
	assert.NotContains(t, out, "ya29")
}

func TestWaitThatGivesUpSaysWhatWasAnsweredLast(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Unable to generate access token; IAM returned 403 Forbidden", http.StatusForbidden)
	}))
	defer server.Close()
	_, err := runCommand(t, "", "wait", "--url", server.URL, "--timeout", "100ms")
	require.ErrorContains(t, err, "HTTP 403: Unable to generate access token; IAM returned 403 Forbidden")
	assert.ErrorContains(t, err, server.URL)
}

func TestWaitAsksNoProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { assert.Fail(t, "the proxy was asked") }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	_, err := runCommand(t, "", "wait", "--url", "http://metadata.invalid/", "--timeout", "50ms")
	require.Error(t, err)
}
