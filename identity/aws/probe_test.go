// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
)

// names are the names of links, with a ! before one that is broken.
func names(links []identity.Link) []string {
	var all []string
	for _, l := range links {
		if l.OK {
			all = append(all, l.Name)
		} else {
			all = append(all, "!"+l.Name)
		}
	}
	return all
}

func TestAProbeWalksAllLinks(t *testing.T) {
	f := newFake(t)
	links, err := f.provider().Probe(t.Context(), token(t), request(t, f.endpoints))
	require.NoError(t, err)
	assert.Equal(t, []string{"token", "issuer", "sts", "registry"}, names(links))
	assert.Contains(t, links[0].Detail, runnerSub)
	assert.Contains(t, links[1].Detail, "not reachable from here", "which breaks nothing: AWS reads it from elsewhere")
	assert.Contains(t, links[2].Detail, roleARN)
	assert.Contains(t, links[3].Detail, ownHost)
}

func TestAProbeTriesTheFirstRegistry(t *testing.T) {
	f := newFake(t)
	links, err := f.provider().Probe(t.Context(), token(t), request(t, f.endpoints, registries("public.ecr.aws", ownHost)))
	require.NoError(t, err)
	assert.Contains(t, links[3].Detail, "public.ecr.aws")
}

func TestAProbeStopsAtTheFirstBrokenLink(t *testing.T) {
	for name, tc := range map[string]struct {
		token  identity.Secret
		script func(*fake)
		want   []string
	}{
		"the token":    {token(t, claim("sub", jobSub)), func(*fake) {}, []string{"!token"}},
		"STS":          {token(t), func(f *fake) { f.on(webIdentity, stsError(403, "AccessDenied", "no")) }, []string{"token", "issuer", "!sts"}},
		"the registry": {token(t), func(f *fake) { f.on(privateLogin, ecrError(400, "AccessDeniedException")) }, []string{"token", "issuer", "sts", "!registry"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			tc.script(f)
			links, err := f.provider().Probe(t.Context(), tc.token, request(t, f.endpoints))
			require.Error(t, err)
			assert.Equal(t, tc.want, names(links))
			assert.Equal(t, err.Error(), links[len(links)-1].Detail)
		})
	}
}

func TestATokenThatSTSWouldRefuseIsToldWithoutAskingIt(t *testing.T) {
	header := func(name string, value any) func(h, _ map[string]any) {
		return func(h, _ map[string]any) { h[name] = value }
	}
	for name, tc := range map[string]struct {
		token identity.Secret
		want  identity.Reason
		says  string
	}{
		"an issuer without TLS":     {token(t, claim("iss", "http://oidc.example.com")), identity.Denied, "https"},
		"an issuer with a query":    {token(t, claim("iss", issuer+"?x=1")), identity.Denied, "query"},
		"another issuer":            {token(t, claim("iss", issuer+"/")), identity.Denied, "byte for byte"},
		"another subject":           {token(t, claim("sub", jobSub)), identity.Invalid, runnerSub},
		"another audience":          {token(t, claim("aud", []string{"vault"})), identity.Invalid, `"vault"`},
		"no audience":               {token(t, claim("aud", nil)), identity.Invalid, "sts.amazonaws.com"},
		"an expired token":          {token(t, claim("exp", now().Unix())), identity.Unreachable, "expired"},
		"a token without an expiry": {token(t, func(_, c map[string]any) { delete(c, "exp") }), identity.Invalid, "exp"},
		"a token without a key id":  {token(t, header("kid", "")), identity.Denied, "kid"},
		"an algorithm of secrets":   {token(t, header("alg", "HS256")), identity.Denied, "RS256"},
		"a token without signature": {token(t, header("alg", "none")), identity.Denied, "RS256"},
		"no token at all":           {identity.NewSecret("hunter2"), identity.Invalid, "JWT"},
		"an endless token":          {identity.NewSecret(strings.Repeat("hunter2", 4000)), identity.Invalid, "STS takes at most 20000"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			links, err := f.provider().Probe(t.Context(), tc.token, request(t, f.endpoints))
			require.ErrorContains(t, err, tc.says)
			assert.Equal(t, tc.want, identity.ReasonOf(err))
			assert.Equal(t, []string{"!token"}, names(links))
			assert.Empty(t, f.calls)
			assert.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestAnIssuerThatAWSCannotReachIsAWarning(t *testing.T) {
	for host, says := range map[string]string{
		"kubernetes.default.svc":               "not a public host",
		"kubernetes.default.svc.cluster.local": "not a public host",
		"10.0.0.1":                             "not a public host",
		"127.0.0.1:6443":                       "not a public host",
		"[::1]:6443":                           "not a public host",
		"oidc.example.com:8443":                "has a port",
	} {
		t.Run(host, func(t *testing.T) {
			f := newFake(t)
			r := request(t, f.endpoints, func(r *identity.Request, _ *v1alpha1.AWSDefaults) { r.Issuer = "https://" + host })
			links, err := f.provider().Probe(t.Context(), token(t, claim("iss", "https://"+host)), r)
			require.NoError(t, err)
			assert.Contains(t, links[0].Detail, says)
		})
	}
}

// issuerServer is an issuer with TLS. Its documents are templates in which %s is its own URL.
func issuerServer(t *testing.T, discovery, keys string) (*httptest.Server, *aws.Provider) {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	serve := func(path, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			if body == "" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_, _ = fmt.Fprint(w, body)
		})
	}
	serve("/.well-known/openid-configuration", replaceURL(discovery, server.URL))
	serve("/keys", keys)
	return server, aws.New(aws.WithClock(newFake(t).clock), aws.WithHTTPClient(server.Client()))
}

func TestTheIssuerIsComparedWithTheToken(t *testing.T) {
	const discovery, keys = `{"issuer":"%s","jwks_uri":"%s/keys"}`, `{"keys":[{"kid":"key-0"},{"kid":"key-1"}]}`
	for name, tc := range map[string]struct {
		discovery, keys string
		broken          bool
		says            string
	}{
		"all well":                        {discovery, keys, false, "has the token's key"},
		"another issuer":                  {`{"issuer":"%s/","jwks_uri":"%s/keys"}`, keys, true, "byte for byte"},
		"keys without TLS":                {`{"issuer":"%s","jwks_uri":"http://example.com/keys"}`, keys, true, "not an https URL"},
		"no keys":                         {`{"issuer":"%s"}`, keys, true, "jwks_uri"},
		"the key was rotated away":        {discovery, `{"keys":[{"kid":"key-0"}]}`, true, `does not have key "key-1"`},
		"a web page":                      {`<html>`, keys, true, "not the JSON"},
		"not for anonymous readers":       {"", keys, false, "HTTP 403"},
		"keys that are not for anonymous": {discovery, "", false, "HTTP 403"},
		"keys that are something else":    {discovery, "nope", true, "not the JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			server, p := issuerServer(t, tc.discovery, tc.keys)
			f := newFake(t)
			r := request(t, f.endpoints, func(r *identity.Request, _ *v1alpha1.AWSDefaults) { r.Issuer = server.URL })
			links, err := p.Probe(t.Context(), token(t, claim("iss", server.URL)), r)
			require.GreaterOrEqual(t, len(links), 2)
			assert.Equal(t, "issuer", links[1].Name)
			assert.Equal(t, tc.broken, !links[1].OK)
			assert.Contains(t, links[1].Detail, tc.says)
			if tc.broken {
				assert.Equal(t, identity.Denied, identity.ReasonOf(err))
				assert.Empty(t, f.calls, "STS is not asked")
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func TestAProbeOfBadSettingsAsksNobody(t *testing.T) {
	f := newFake(t)
	links, err := f.provider().Probe(t.Context(), token(t), request(t, f.endpoints, with(podIdentity)))
	require.ErrorContains(t, err, "PodIdentity")
	assert.Empty(t, links)
	assert.Empty(t, f.calls)
}

func TestTheTokensExpiryIsToldByTheProvidersClock(t *testing.T) {
	f := newFake(t)
	f.clock.SetTime(now().Add(2 * time.Hour))
	_, err := f.provider().Probe(t.Context(), token(t), request(t, f.endpoints))
	require.ErrorContains(t, err, "expired")
}
