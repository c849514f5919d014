// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/github"
)

func TestParseCredentials(t *testing.T) {
	key := newKey(t)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	pkcs8 := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for name, test := range map[string]struct {
		data map[string]string
		want string
	}{
		"a token": {
			data: map[string]string{github.KeyToken: token},
			want: "GitHub token at https://api.github.com/",
		},
		"a token with the line break that echo adds": {
			data: map[string]string{github.KeyToken: token + "\n"},
			want: "GitHub token at https://api.github.com/",
		},
		"an App with the key as GitHub gives it": {
			data: map[string]string{github.KeyAppID: "12", github.KeyInstallationID: "34\n", github.KeyPrivateKey: pkcs1(key)},
			want: "GitHub App 12, installation 34, at https://api.github.com/",
		},
		"an App with a key that was converted to PKCS 8": {
			data: map[string]string{github.KeyAppID: "12", github.KeyInstallationID: "34", github.KeyPrivateKey: pkcs8},
			want: "GitHub App 12, installation 34, at https://api.github.com/",
		},
		"an empty key beside a token is no App": {
			data: map[string]string{github.KeyToken: token, github.KeyAppID: ""},
			want: "GitHub token at https://api.github.com/",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := github.ParseCredentials(secretData(test.data))
			require.NoError(t, err)
			assert.Equal(t, test.want, c.String())
		})
	}
}

func TestParseCredentialsNamesTheKeyThatIsWrong(t *testing.T) {
	key := pkcs1(newKey(t))
	elliptic := ellipticKey(t)
	for name, test := range map[string]struct {
		data map[string]string
		want string
	}{
		"nothing": {
			want: "no credentials: set github_token, or github_app_id, github_app_installation_id, github_app_private_key",
		},
		"both kinds": {
			data: map[string]string{github.KeyToken: token, github.KeyAppID: "12"},
			want: "github_token and github_app_id are both set: keep the token or the App, not both",
		},
		"two words as a token": {
			data: map[string]string{github.KeyToken: token + " " + token},
			want: "github_token has a blank, a line break or a character outside of ASCII at position 40: a token is one word",
		},
		"an App without the rest": {
			data: map[string]string{github.KeyAppID: "12"},
			want: "github_app_installation_id is missing\ngithub_app_private_key is missing",
		},
		"an id that is no number": {
			data: map[string]string{github.KeyAppID: "acme-app", github.KeyInstallationID: "34", github.KeyPrivateKey: key},
			want: `github_app_id "acme-app" is not a positive number such as 123456`,
		},
		"the private key under the id's name": {
			data: map[string]string{github.KeyAppID: key, github.KeyInstallationID: "34", github.KeyPrivateKey: key},
			want: fmt.Sprintf("github_app_id (%d characters, not shown) is not a positive number such as 123456", len(key)-1),
		},
		"a private key that lost its line breaks": {
			data: map[string]string{github.KeyAppID: "12", github.KeyInstallationID: "34", github.KeyPrivateKey: `-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----`},
			want: "github_app_private_key is not PEM: it is the whole .pem file that GitHub gave, with its line breaks, from -----BEGIN RSA PRIVATE KEY----- on",
		},
		"a private key of another kind": {
			data: map[string]string{github.KeyAppID: "12", github.KeyInstallationID: "34", github.KeyPrivateKey: elliptic},
			want: `github_app_private_key holds a PEM block "PRIVATE KEY" that is no RSA private key: make one on the App's page and take the whole .pem file`,
		},
		"a bad URL beside a bad id": {
			data: map[string]string{github.KeyAppID: "0", github.KeyInstallationID: "34", github.KeyPrivateKey: key, github.KeyEnterpriseURL: "github.example.com"},
			want: "github_app_id \"0\" is not a positive number such as 123456\ngithub_enterprise_url is not the URL of a server, such as https://github.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := github.ParseCredentials(secretData(test.data))
			require.EqualError(t, err, test.want)
			assert.NotContains(t, err.Error(), token)
		})
	}
}

func TestEnterpriseURL(t *testing.T) {
	for server, want := range map[string]string{
		"":                                   "https://api.github.com/",
		"https://github.com":                 "https://api.github.com/",
		"https://api.github.com/":            "https://api.github.com/",
		"https://github.example.com":         "https://github.example.com/api/v3/",
		"https://github.example.com/":        "https://github.example.com/api/v3/",
		"https://github.example.com/api/v3":  "https://github.example.com/api/v3/",
		"https://github.example.com/api/v3/": "https://github.example.com/api/v3/",
		"https://github.example.com:8443":    "https://github.example.com:8443/api/v3/",
		"https://acme.ghe.com":               "https://api.acme.ghe.com/",
		"https://api.acme.ghe.com":           "https://api.acme.ghe.com/",
		"http://127.0.0.1:8090":              "http://127.0.0.1:8090/api/v3/",
		"http://localhost:8090":              "http://localhost:8090/api/v3/",
		"http://[::1]:8090":                  "http://[::1]:8090/api/v3/",
	} {
		c := parse(t, map[string]string{github.KeyToken: token, github.KeyEnterpriseURL: server})
		assert.Equal(t, "GitHub token at "+want, c.String(), "for %q", server)
	}
}

func TestEnterpriseURLThatIsWrong(t *testing.T) {
	for server, want := range map[string]string{
		"github.example.com":                     "is not the URL of a server, such as https://github.example.com",
		"https://user:hidden@github.example.com": "is not the URL of a server, such as https://github.example.com",
		"https://github.example.com?token=x":     "is not the URL of a server, such as https://github.example.com",
		"http://github.example.com":              `"http://github.example.com": the scheme must be https, as credentials go over it (http only to this machine)`,
		"https://github.example.com/acme":        `"https://github.example.com/acme": "/acme" is too much: give the server alone, such as https://github.example.com; the organisation or repository belongs in the RunnerDeployment`,
	} {
		_, err := github.ParseCredentials(secretData(map[string]string{github.KeyToken: token, github.KeyEnterpriseURL: server}))
		require.EqualError(t, err, "github_enterprise_url "+want, "for %q", server)
		assert.NotContains(t, err.Error(), "hidden")
	}
}

func TestCredentialsPrintNothingSecret(t *testing.T) {
	key := newKey(t)
	withToken := parse(t, map[string]string{github.KeyToken: token})
	withApp := parse(t, map[string]string{github.KeyAppID: "12", github.KeyInstallationID: "34", github.KeyPrivateKey: pkcs1(key)})
	for _, c := range []github.Credentials{withToken, withApp} {
		client := newClient(t, c, organization)
		asJSON, err := json.Marshal(struct{ C any }{c})
		require.NoError(t, err)
		for _, text := range []string{
			fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprintf("%x", c), fmt.Sprintf("%+v", &c), string(asJSON),
			fmt.Sprintf("%+v", client), fmt.Sprintf("%#v", client), fmt.Sprintf("%+v", struct{ c github.Credentials }{c}),
		} {
			assert.NotContains(t, text, token)
			assert.NotContains(t, text, fmt.Sprintf("%x", token))
			assert.NotContains(t, text, key.D.String())
		}
	}
}

func TestScopeThatIsWrong(t *testing.T) {
	for want, scope := range map[string]github.Scope{
		`enterprise "", organization "", repository "": set exactly one`:                 {},
		`enterprise "", organization "acme", repository "acme/website": set exactly one`: {Organization: "acme", Repository: "acme/website"},
		`repository "website" is not OWNER/NAME, such as acme/website`:                   {Repository: "website"},
		`repository "acme/.." is not OWNER/NAME, such as acme/website`:                   {Repository: "acme/.."},
		`repository "acme/web/site" is not OWNER/NAME, such as acme/website`:             {Repository: "acme/web/site"},
		`organization "acme/../x" is not the name of an organisation, such as acme`:      {Organization: "acme/../x"},
		`organization "acme?" is not the name of an organisation, such as acme`:          {Organization: "acme?"},
		`enterprise "acme inc" is not the slug of an enterprise, such as acme`:           {Enterprise: "acme inc"},
	} {
		_, err := github.New(parse(t, map[string]string{github.KeyToken: token}), scope)
		require.EqualError(t, err, want)
	}
	_, err := github.New(github.Credentials{}, organization)
	require.EqualError(t, err, "no GitHub credentials")
}

func ellipticKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
