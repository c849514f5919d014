// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// keyTimeout is how long STS waits for an issuer's keys.
const keyTimeout = 5 * time.Second

// A provider is an IAM OIDC provider and the keys of its issuer, as last fetched.
type provider struct {
	Issuer

	mu   sync.Mutex
	keys jose.JSONWebKeySet
}

// key finds a key by its id. The keys are fetched again if the id is unknown: the issuer may have rotated them.
func (p *provider) key(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.keys.Key(id); len(found) > 0 {
		return found, nil
	}
	fresh, err := p.fetch(ctx)
	if err != nil {
		return nil, err
	}
	p.keys = fresh
	return p.keys.Key(id), nil
}

func (p *provider) fetch(ctx context.Context) (jose.JSONWebKeySet, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	var keys jose.JSONWebKeySet
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.JWKS, nil)
	if err != nil {
		return keys, err
	}
	response, err := cmp.Or(p.Client, http.DefaultClient).Do(request)
	if err != nil {
		return keys, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return keys, fmt.Errorf("keys of issuer %s at %s: %s", p.URL, p.JWKS, response.Status)
	}
	return keys, json.NewDecoder(response.Body).Decode(&keys)
}
