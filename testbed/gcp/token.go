// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"
)

// What can be wrong with an access token.
var (
	// ErrUnknownToken: it was never issued.
	ErrUnknownToken = errors.New("token was not issued here")
	// ErrExpiredToken: its time has come.
	ErrExpiredToken = errors.New("token has expired")
)

// A tokenKey is the digest of an access token: tokens are not kept.
type tokenKey [sha256.Size]byte

// A token is what is known of an access token.
type token struct {
	// who is the principal, members are all the ways in which IAM policies can write it.
	who     string
	members []string
	// account is the e-mail of a Google service account's token, "" for a federated one.
	account string
	expires time.Time
}

// issue makes an access token that ends in whole seconds, as Google's do.
func (s *Server) issue(t token) string {
	b := make([]byte, 180)
	_, _ = rand.Read(b) // It never fails.
	value := "ya29.d." + base64.RawURLEncoding.EncodeToString(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[sha256.Sum256([]byte(value))] = t
	return value
}

func (s *Server) lookup(value string, now time.Time) (token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tokens[sha256.Sum256([]byte(value))]
	switch {
	case !ok:
		return token{}, ErrUnknownToken
	case !now.Before(t.expires):
		return t, ErrExpiredToken
	}
	return t, nil
}

// Expire ends all tokens that were issued so far, as if their time had come.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for k, t := range s.tokens {
		if now.Before(t.expires) {
			t.expires = now
			s.tokens[k] = t
		}
	}
}
