// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

const (
	account   = "111122223333"
	other     = "444455556666"
	issuerURL = "https://oidc.example.com/id/cluster"
	audience  = "sts.amazonaws.com"
	subject   = "system:serviceaccount:ci:aws-runner"
	region    = "eu-west-1"

	ciRole      = "arn:aws:iam::" + account + ":role/team/ci"
	bareRole    = "arn:aws:iam::" + account + ":role/bare"
	deployRole  = "arn:aws:iam::" + other + ":role/deploy"
	foreignRole = "arn:aws:iam::777788889999:role/ci"
)

const trustCI = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
	"Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/oidc.example.com/id/cluster"},
	"Action":"sts:AssumeRoleWithWebIdentity",
	"Condition":{"StringEquals":{"oidc.example.com/id/cluster:aud":"sts.amazonaws.com","oidc.example.com/id/cluster:sub":"system:serviceaccount:ci:aws-runner"}}}]}`

const trustDeploy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole",
	"Principal":{"AWS":"arn:aws:iam::111122223333:role/team/ci"},
	"Condition":{"StringEquals":{"sts:ExternalId":"acme-ci"}}}]}`

// A world is a simulator, the issuer that it trusts, and a clock that only tests move.
type world struct {
	*aws.Server
	url   string
	clock *clocktesting.FakeClock
	log   *lockedBuffer
	keys  *keyServer
	key   jose.JSONWebKey
}

func newWorld(t *testing.T, change ...func(*aws.Config)) *world {
	t.Helper()
	w := &world{clock: clocktesting.NewFakeClock(time.Now()), log: &lockedBuffer{}, key: newKey(t, "first")}
	w.keys = newKeyServer(t, w.key)
	c := aws.Config{
		Clock:   w.clock,
		Logger:  slog.New(slog.NewTextHandler(w.log, nil)),
		Issuers: []aws.Issuer{{URL: issuerURL, JWKS: w.keys.URL, ClientIDs: []string{audience, "acme"}, Accounts: []string{account}}},
		Roles: map[string]aws.Role{
			ciRole: {
				TrustPolicy: json.RawMessage(trustCI), MaxSession: 4 * time.Hour, Registries: []string{other},
				Permissions: []string{"ecr:*", "ecr-public:GetAuthorizationToken", "sts:GetServiceBearerToken", "sts:AssumeRole"},
			},
			bareRole:   {TrustPolicy: json.RawMessage(trustCI)},
			deployRole: {TrustPolicy: json.RawMessage(trustDeploy), MaxSession: 12 * time.Hour},
		},
	}
	for _, f := range change {
		f(&c)
	}
	s, err := aws.New(c)
	require.NoError(t, err)
	w.Server, w.url = s, s.Start()
	t.Cleanup(s.Close)
	return w
}

func newKey(t *testing.T, id string) jose.JSONWebKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return jose.JSONWebKey{Key: private, KeyID: id, Algorithm: string(jose.ES256), Use: "sig"}
}

// claims are those of a good token.
func (w *world) claims() jwt.Claims {
	return jwt.Claims{
		Issuer: issuerURL, Subject: subject, Audience: jwt.Audience{audience},
		IssuedAt: jwt.NewNumericDate(w.clock.Now()), Expiry: jwt.NewNumericDate(w.clock.Now().Add(time.Hour)),
	}
}

// token is a token of the issuer, with the changes made to its claims.
func (w *world) token(t *testing.T, change ...func(*jwt.Claims)) string {
	t.Helper()
	c := w.claims()
	for _, f := range change {
		f(&c)
	}
	return sign(t, w.key, c)
}

func sign(t *testing.T, key jose.JSONWebKey, claims jwt.Claims) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	require.NoError(t, err)
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	require.NoError(t, err)
	return token
}

// A keyServer serves an issuer's keys, which can be rotated or break.
type keyServer struct {
	*httptest.Server
	mu     sync.Mutex
	keys   []jose.JSONWebKey
	broken bool
	served int
}

func newKeyServer(t *testing.T, keys ...jose.JSONWebKey) *keyServer {
	k := &keyServer{}
	k.set(keys...)
	k.Server = httptest.NewServer(k)
	t.Cleanup(k.Close)
	return k
}

func (k *keyServer) set(keys ...jose.JSONWebKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = nil
	for _, key := range keys {
		k.keys = append(k.keys, key.Public())
	}
}

func (k *keyServer) fail() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.broken = true
}

func (k *keyServer) fetches() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.served
}

func (k *keyServer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.served++
	if k.broken {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: k.keys})
}

// A lockedBuffer is a log that a test reads while the server writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
