// SPDX-License-Identifier: Apache-2.0

package github

import (
	"net"
	"net/http"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

const agent = "runner-identity"

// newTransport keeps connections open between reconciles, and notices those that a gateway on the way dropped: on such a
// connection every call would run into its timeout.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
	}
}

// roundTrip is a function as a transport.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// userAgent names us in requests that do not say who they come from: those for an App's token.
func userAgent(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("User-Agent") != "" {
			return next.RoundTrip(r)
		}
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", agent)
		return next.RoundTrip(r)
	})
}

// bearer adds a token. It reveals it for the request alone, and is no closure: a printed client shows no token.
type bearer struct {
	token identity.Secret
	next  http.RoundTripper
}

// RoundTrip sends the request with the token.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token.Reveal())
	return b.next.RoundTrip(r)
}
