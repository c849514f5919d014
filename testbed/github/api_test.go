// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"testing"
	"time"

	jwt "github.com/golang-jwt/jwt/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"

	sim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestWhatTheAPIRefuses(t *testing.T) {
	const runners, other = "/orgs/acme/actions/runners", "Authorization: Bearer ghp_other"
	for name, test := range map[string]struct {
		method, path, body string
		header             []string
		status             int
		want               string
	}{
		"no credentials":          {"GET", runners + "?name=r1", "", []string{"Authorization: "}, 401, "Bad credentials"},
		"a token nobody has":      {"GET", runners + "?name=r1", "", []string{other}, 401, "Bad credentials"},
		"basic authentication":    {"GET", runners + "?name=r1", "", []string{"Authorization: Basic ghp_ok"}, 401, "Bad credentials"},
		"a scope that is not":     {"GET", "/orgs/other/actions/runners?name=r1", "", nil, 404, "Not Found"},
		"a page that is not":      {"GET", "/orgs/acme/actions/secrets", "", nil, 404, "Not Found"},
		"a runner that is not":    {"GET", runners + "/99", "", nil, 404, "Not Found"},
		"an id that is no number": {"DELETE", runners + "/r1", "", nil, 404, "Not Found"},
		"another scope's runner":  {"GET", "/repos/acme/website/actions/runners/1", "", nil, 404, "Not Found"},
		"groups of a repository":  {"GET", "/repos/acme/website/actions/runner-groups", "", nil, 404, "Not Found"},
		"a body that is no JSON":  {"POST", runners + "/generate-jitconfig", "{", nil, 400, "Problems parsing JSON"},
		"a name that is taken":    {"POST", runners + "/generate-jitconfig", jit, nil, 409, "Already exists - A runner with the name r1 already exists."},
		"no labels": {"POST", runners + "/generate-jitconfig", `{"name": "r2", "runner_group_id": 1}`, nil, 422,
			"Invalid request.\n\nlabels must have between 1 and 100 items"},
		"no group": {"POST", runners + "/generate-jitconfig", `{"name": "r2", "labels": ["x"]}`, nil, 422,
			"Invalid request.\n\nrunner_group_id is not a runner group"},
		"no name": {"POST", runners + "/generate-jitconfig", `{"labels": ["x"], "runner_group_id": 1}`, nil, 422,
			"Invalid request.\n\nname must be between 1 and 64 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, sim.Options{Scopes: []string{"orgs/acme", "repos/acme/website"}})
			p.register(t)
			status, body := p.curl(t, test.method, test.path, test.body, test.header...)
			assert.Equal(t, test.status, status)
			assert.Equal(t, test.want, body["message"])
			require.Len(t, p.Runners(), 1)
		})
	}
}

// claims are those of a JWT that an App signs now.
func claims(now time.Time) jwt.RegisteredClaims {
	return jwt.RegisteredClaims{Issuer: "12", IssuedAt: jwt.NewNumericDate(now.Add(-time.Minute)), ExpiresAt: jwt.NewNumericDate(now.Add(5 * time.Minute))}
}

func TestAppsAreCheckedForReal(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	now := time.Now()
	for name, test := range map[string]struct {
		change func(*jwt.RegisteredClaims)
		method jwt.SigningMethod
		key    any
		status int
	}{
		"a good one":           {nil, jwt.SigningMethodRS256, key, 201},
		"another key":          {nil, jwt.SigningMethodRS256, stranger, 401},
		"no signature":         {nil, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, 401},
		"another algorithm":    {nil, jwt.SigningMethodRS512, key, 401},
		"a shared secret":      {nil, jwt.SigningMethodHS256, []byte("secret"), 401},
		"expired":              {func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(now) }, jwt.SigningMethodRS256, key, 401},
		"good for an hour":     {func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(now.Add(time.Hour)) }, jwt.SigningMethodRS256, key, 401},
		"without an end":       {func(c *jwt.RegisteredClaims) { c.ExpiresAt = nil }, jwt.SigningMethodRS256, key, 401},
		"issued in the future": {func(c *jwt.RegisteredClaims) { c.IssuedAt = jwt.NewNumericDate(now.Add(2 * time.Minute)) }, jwt.SigningMethodRS256, key, 401},
		"another App":          {func(c *jwt.RegisteredClaims) { c.Issuer = "13" }, jwt.SigningMethodRS256, key, 404},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, sim.Options{
				Clock: clocktesting.NewFakePassiveClock(now),
				Apps:  []sim.App{{ID: 12, Installation: 34, Key: &key.PublicKey, Scopes: []string{"*"}}},
			})
			c := claims(now)
			if test.change != nil {
				test.change(&c)
			}
			signed, err := jwt.NewWithClaims(test.method, c).SignedString(test.key)
			require.NoError(t, err)
			status, _ := p.curl(t, "POST", "/app/installations/34/access_tokens", "", "Authorization: Bearer "+signed)
			assert.Equal(t, test.status, status)
			status, _ = p.curl(t, "GET", "/orgs/acme/actions/runners?name=r1", "", "Authorization: Bearer "+signed)
			assert.Equal(t, 401, status, "the App's JWT is no installation token")
		})
	}
}

func TestInstallationTokensExpireAndShareABudget(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	clock := clocktesting.NewFakePassiveClock(time.Now())
	p := open(t, sim.Options{
		Clock: clock, Budget: 3, TokenLifetime: 10 * time.Minute,
		Apps: []sim.App{{ID: 12, Installation: 34, Key: &key.PublicKey, Scopes: []string{"*"}}},
	})
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims(clock.Now())).SignedString(key)
	require.NoError(t, err)
	var bearers []string
	for range 2 {
		_, body := p.curl(t, "POST", "/app/installations/34/access_tokens", "", "Authorization: Bearer "+signed)
		bearers = append(bearers, fmt.Sprint("Authorization: token ", body["token"]))
	}
	var got []int
	for i := range 4 {
		status, _ := p.curl(t, "GET", "/orgs/acme/actions/runners?name=r1", "", bearers[i%2])
		got = append(got, status)
	}
	assert.Equal(t, []int{200, 200, 200, 403}, got)

	clock.SetTime(clock.Now().Add(10 * time.Minute))
	status, _ := p.curl(t, "GET", "/orgs/acme/actions/runners?name=r1", "", bearers[0])
	assert.Equal(t, 401, status)
}

func TestListsComeInPages(t *testing.T) {
	p := open(t, sim.Options{})
	for i := range 3 {
		body := fmt.Sprintf(`{"name": "r%d", "runner_group_id": 1, "labels": ["x"]}`, i)
		status, _ := p.curl(t, "POST", "/repos/acme/website/actions/runners/generate-jitconfig", body)
		require.Equal(t, 201, status)
	}
	_, first := p.curl(t, "GET", "/repos/acme/website/actions/runners?per_page=2", "")
	_, second := p.curl(t, "GET", "/repos/acme/website/actions/runners?per_page=2&page=2", "")
	_, third := p.curl(t, "GET", "/repos/acme/website/actions/runners?per_page=2&page=3", "")
	assert.Len(t, first["runners"], 2)
	assert.Len(t, second["runners"], 1)
	assert.Empty(t, third["runners"])
	assert.InDelta(t, 3, third["total_count"], 0)
}
