// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The steps of an exchange, which are the names of a probe's links too.
const (
	stepSTS           = "sts"
	stepImpersonation = "impersonation"
)

// maxAnswer bounds what is kept of an answer.
const maxAnswer = 64 << 10

// A witness sees what Google answers. The OAuth library turns answers into text, and deciding by text whose fault something is
// breaks with the next release.
type witness struct {
	base http.RoundTripper
	// last is the answer to the last request.
	last answer
}

// An answer is what came back from one request, or did not.
type answer struct {
	step   string
	status int
	// body is kept of refusals only: that of a success is a token.
	body []byte
	err  error
}

// RoundTrip follows no redirect: that would carry the token to wherever it points.
func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	w.last = answer{step: stepSTS}
	if strings.HasSuffix(r.URL.Path, ":generateAccessToken") {
		w.last.step = stepImpersonation
	}
	res, err := cmp.Or(w.base, http.DefaultTransport).RoundTrip(r)
	if err != nil {
		w.last.err = err
		return nil, err
	}
	w.last.status = res.StatusCode
	if res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close()
	w.last.body, w.last.err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode < http.StatusBadRequest {
		return nil, fmt.Errorf("redirected, and tokens are not sent to where a redirect points")
	}
	res.Body = io.NopCloser(bytes.NewReader(w.last.body))
	return res, nil
}
