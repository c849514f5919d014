// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/runner-identity/runner-identity/identity/token"
)

func FuzzRole(f *testing.F) {
	for _, s := range []string{exampleRole, "arn:aws-cn:iam::111122223333:role/a/b", "arn:aws:iam::1:role/x", "arn:::::", "", "arn:aws:iam::111122223333:role//"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := parseRole(s)
		if err != nil {
			return
		}
		assert.Equal(t, s, r.arn)
		assert.True(t, isAccount(r.account))
		assert.True(t, strings.HasPrefix(s, "arn:"+r.partition.name+":iam::"+r.account+":role/"))
		assert.True(t, strings.HasSuffix(s, "/"+r.name))
		assert.False(t, strings.ContainsAny(s, " \t\r\n\"'`$;|&<>\\"), "nothing that a shell or a config file understands")
	})
}

func FuzzRegistry(f *testing.F) {
	for _, s := range []string{
		"111122223333.dkr.ecr.eu-west-1.amazonaws.com", "https://111122223333.dkr-ecr.us-west-2.on.aws:443/a:b@sha256:c", publicHost, dualPublicHost,
		"x@111122223333.dkr.ecr.eu-west-1.amazonaws.com", "111122223333.dkr.ecr.eu-west-1.amazonaws.com.evil.example", "//", "%", "[::1]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, ok := parseRegistry(s)
		if !ok {
			assert.False(t, New().Serves(s))
			return
		}
		u, err := url.Parse("https://" + r.host)
		assert.NoError(t, err)
		assert.Equal(t, r.host, u.Host, "the host is a bare one")
		again, ok := parseBareRegistry(r.host)
		assert.True(t, ok)
		assert.Equal(t, r, again)
		name := u.Hostname()
		ours := name == publicHost || name == dualPublicHost
		for _, suffix := range registrySuffixes() {
			ours = ours || strings.HasSuffix(name, "."+suffix)
		}
		assert.True(t, ours, "%q is not a host of AWS", name)
	})
}

func FuzzEvaluateTrust(f *testing.F) {
	for _, s := range []string{
		`{"Statement":{"Effect":"Allow","Principal":"*","Action":"*"}}`,
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/i"},"Action":["sts:*"],"Condition":{"StringLike":{"i:sub":["a*?"]},"Null":{"i:aud":true}}}]}`,
		`{"Statement":[{"Effect":"Deny","NotPrincipal":{"AWS":"x"},"NotAction":"x"}]}`,
		`[`, `{"Statement":[]}`, `{"a":1,"a":2}`, `null`, `"x"`,
	} {
		f.Add([]byte(s), "https://i", "system:serviceaccount:a:b")
	}
	f.Fuzz(func(t *testing.T, document []byte, issuer, sub string) {
		c := Claims{Claims: token.Claims{Issuer: issuer, Subject: sub, Audience: []string{defaultAudience}}}
		d := EvaluateTrust(document, exampleRole, c)
		assert.NotEmpty(t, d.Reason)
		assert.Equal(t, d, EvaluateTrust(document, exampleRole, c))
		if d.Allowed {
			assert.True(t, json.Valid(document))
			assert.Contains(t, string(document), "Allow")
		}
	})
}

func FuzzLike(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("**", "")
	f.Add("a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		assert.True(t, like("*", s))
		if !strings.ContainsAny(pattern, "*?") {
			assert.Equal(t, string([]rune(pattern)) == string([]rune(s)), like(pattern, s))
		}
		if like(pattern, s) {
			assert.True(t, like(pattern+"*", s+"tail"), "a longer text fits a pattern with one more star")
		}
	})
}

func FuzzSessionName(f *testing.F) {
	f.Add("ci-linux")
	f.Add("\xff\xfe")
	f.Fuzz(func(t *testing.T, s string) {
		assert.True(t, isSessionName(sessionName(s)))
		assert.Equal(t, sessionName(s), sessionName(sessionName(s)))
	})
}
