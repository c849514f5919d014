// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// keyTimeout is how long clouds wait for an issuer's keys.
const keyTimeout = 5 * time.Second

// What can be wrong with a token's signature.
var (
	// ErrNoKey: the issuer has no key with the id that the token names.
	ErrNoKey = errors.New("the issuer does not have the token's key")
	// ErrSignature: the issuer has the key, and the signature is not by it.
	ErrSignature = errors.New("the token is not signed by the key that it names")
)

// Keys are the keys of a token issuer, fetched from URL with Client when they are needed.
type Keys struct {
	URL string
	// Client fetches the keys; http.DefaultClient if it is nil.
	Client *http.Client

	mu   sync.Mutex
	keys jose.JSONWebKeySet
}

// Verify reads the claims of a token once its signature is verified.
func (k *Keys) Verify(ctx context.Context, token *jwt.JSONWebToken, claims ...any) error {
	keys, err := k.byID(ctx, token.Headers[0].KeyID)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return ErrNoKey
	}
	for _, key := range keys {
		if token.Claims(key, claims...) == nil {
			return nil
		}
	}
	return ErrSignature
}

// byID finds keys by their id. They are fetched again if the id is unknown: the issuer may have rotated them.
func (k *Keys) byID(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found := k.keys.Key(id); len(found) > 0 {
		return found, nil
	}
	fresh, err := k.fetch(ctx)
	if err != nil {
		return nil, err
	}
	k.keys = fresh
	return k.keys.Key(id), nil
}

func (k *Keys) fetch(ctx context.Context) (jose.JSONWebKeySet, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	var keys jose.JSONWebKeySet
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.URL, nil)
	if err != nil {
		return keys, err
	}
	response, err := cmp.Or(k.Client, http.DefaultClient).Do(request)
	if err != nil {
		return keys, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return keys, fmt.Errorf("keys at %s: %s", k.URL, response.Status)
	}
	return keys, json.NewDecoder(response.Body).Decode(&keys)
}
