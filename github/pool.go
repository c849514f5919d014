// SPDX-License-Identifier: Apache-2.0

package github

import (
	"net/http"
	"sync"
	"time"

	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// maxPooled bounds a Pool. A client that was forgotten is made again; what it knew is asked for again.
const maxPooled = 1024

// A Pool gives the same Client for the same credentials and scope, so that reconciles share connections, App tokens, ids
// of groups and what is known of rate limits. New credentials in the Secret give new clients. It is safe for concurrent use.
type Pool struct {
	options options

	mu       sync.Mutex
	accounts *lru.Cache // hash of the credentials → *account
	clients  *lru.Cache // clientKey → *Client
}

type clientKey struct {
	hash  string
	scope Scope
}

// NewPool makes an empty Pool.
func NewPool(opts ...Option) *Pool {
	o := options{clock: clock.RealClock{}, timeout: 15 * time.Second}
	for _, opt := range opts {
		opt(&o)
	}
	if o.transport == nil {
		o.transport = newTransport()
	}
	return &Pool{options: o, accounts: lru.New(maxPooled), clients: lru.New(maxPooled)}
}

// Client gives the client for the credentials and the scope. It makes no call; its error is one of the scope or of empty credentials.
func (p *Pool) Client(c Credentials, s Scope) (*Client, error) {
	path, err := s.path()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := clientKey{hash: c.hash, scope: s}
	if client, ok := p.clients.Get(key); ok {
		return client.(*Client), nil
	}
	a, err := p.account(c)
	if err != nil {
		return nil, err
	}
	client := &Client{scope: s, path: path, account: a, options: p.options}
	p.clients.Add(key, client)
	return client, nil
}

func (p *Pool) account(c Credentials) (*account, error) {
	if a, ok := p.accounts.Get(c.hash); ok {
		return a.(*account), nil
	}
	a, err := newAccount(c, p.options)
	if err != nil {
		return nil, err
	}
	p.accounts.Add(c.hash, a)
	return a, nil
}

type options struct {
	clock     clock.PassiveClock
	timeout   time.Duration
	transport http.RoundTripper
}

// An Option changes how clients call GitHub.
type Option func(*options)

// WithTimeout bounds each call, an App's token included. Default: 15 s.
func WithTimeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// WithTransport replaces the HTTP transport, for a private certificate authority or a test.
func WithTransport(t http.RoundTripper) Option { return func(o *options) { o.transport = t } }

// WithClock replaces the clock by which rate limits end.
func WithClock(c clock.PassiveClock) Option { return func(o *options) { o.clock = c } }
