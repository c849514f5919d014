// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

const keyBits = 2048

// An Issuer signs ServiceAccount tokens as an API server does, for tests that have none. It is the http.Handler of its keys.
type Issuer struct {
	URL string

	signer jose.Signer
	public jose.JSONWebKeySet
}

// NewIssuer makes an issuer with a key of its own.
func NewIssuer(url string) (*Issuer, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, err
	}
	id := rand.Text()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: id}}, nil)
	if err != nil {
		return nil, err
	}
	public := jose.JSONWebKey{Key: key.Public(), KeyID: id, Algorithm: string(jose.RS256), Use: "sig"}
	return &Issuer{URL: url, signer: signer, public: jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}}}, nil
}

// A Subject says which token is wanted.
type Subject struct {
	Namespace, Account, Audience string
	Issued                       time.Time
	Lifetime                     time.Duration
}

// Token signs a token.
func (i *Issuer) Token(s Subject) (string, error) {
	return i.Sign(jwt.Claims{
		Issuer: i.URL, Subject: fmt.Sprintf("system:serviceaccount:%s:%s", s.Namespace, s.Account), Audience: jwt.Audience{s.Audience},
		IssuedAt: jwt.NewNumericDate(s.Issued), NotBefore: jwt.NewNumericDate(s.Issued), Expiry: jwt.NewNumericDate(s.Issued.Add(s.Lifetime)),
	})
}

// Sign signs a token with any claims.
func (i *Issuer) Sign(claims any) (string, error) {
	return jwt.Signed(i.signer).Claims(claims).Serialize()
}

// ServeHTTP answers with the keys, at any path.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(i.public)
}
