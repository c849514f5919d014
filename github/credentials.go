// SPDX-License-Identifier: Apache-2.0

package github

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// Keys of the Secret that holds the credentials.
const (
	KeyToken          = "github_token"
	KeyAppID          = "github_app_id"
	KeyInstallationID = "github_app_installation_id"
	KeyPrivateKey     = "github_app_private_key"
	KeyEnterpriseURL  = "github_enterprise_url"
)

// Credentials are what GitHub knows us by: a token, or the installation of a GitHub App. Make them with ParseCredentials.
// They print what they are and nothing secret.
type Credentials struct {
	token identity.Secret
	app   *app
	api   string // base URL of the REST API, ends in "/"
	hash  string
}

// app is the installation of a GitHub App.
type app struct {
	id, installation int64
	key              *rsa.PrivateKey
}

// ParseCredentials reads the data of a Secret: KeyToken, or KeyAppID, KeyInstallationID and KeyPrivateKey; and
// KeyEnterpriseURL for a GitHub Enterprise Server. Its error names every key that is missing or wrong.
func ParseCredentials(data map[string][]byte) (Credentials, error) {
	api, urlErr := apiURL(value(data, KeyEnterpriseURL))
	c := Credentials{api: api, hash: contentHash(data)}
	appKeys := []string{KeyAppID, KeyInstallationID, KeyPrivateKey}
	hasApp := slices.ContainsFunc(appKeys, func(k string) bool { return value(data, k) != "" })
	var err error
	switch token := value(data, KeyToken); {
	case token != "" && hasApp:
		err = fmt.Errorf("%s and %s are both set: keep the token or the App, not both", KeyToken, present(data, appKeys))
	case token != "":
		c.token, err = parseToken(token)
	case hasApp:
		c.app, err = parseApp(data)
	default:
		err = fmt.Errorf("no credentials: set %s, or %s", KeyToken, strings.Join(appKeys, ", "))
	}
	if err := errors.Join(err, urlErr); err != nil {
		return Credentials{}, err
	}
	return c, nil
}

// String says which token or App it is, without anything secret.
func (c Credentials) String() string {
	switch {
	case c.app != nil:
		return fmt.Sprintf("GitHub App %d, installation %d, at %s", c.app.id, c.app.installation, c.api)
	case c.token.IsZero():
		return "no GitHub credentials"
	}
	return "GitHub token at " + c.api
}

// GoString is String.
func (c Credentials) GoString() string { return c.String() }

func parseToken(token string) (identity.Secret, error) {
	if i := strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }); i >= 0 {
		return identity.Secret{}, fmt.Errorf("%s has a blank, a line break or a character outside of ASCII at position %d: a token is one word", KeyToken, i)
	}
	return identity.NewSecret(token), nil
}

func parseApp(data map[string][]byte) (*app, error) {
	id, idErr := parseID(data, KeyAppID)
	installation, installationErr := parseID(data, KeyInstallationID)
	key, keyErr := parseKey(value(data, KeyPrivateKey))
	return &app{id: id, installation: installation, key: key}, errors.Join(idErr, installationErr, keyErr)
}

func parseID(data map[string][]byte, key string) (int64, error) {
	v := value(data, key)
	if v == "" {
		return 0, fmt.Errorf("%s is missing", key)
	}
	id, err := strconv.ParseInt(v, 10, 64)
	if err != nil || id <= 0 {
		return 0, fmt.Errorf("%s %s is not a positive number such as 123456", key, quoted(v))
	}
	return id, nil
}

func parseKey(text string) (*rsa.PrivateKey, error) {
	if text == "" {
		return nil, fmt.Errorf("%s is missing", KeyPrivateKey)
	}
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM: it is the whole .pem file that GitHub gave, with its line breaks, from -----BEGIN RSA PRIVATE KEY----- on", KeyPrivateKey)
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if key, ok := key.(*rsa.PrivateKey); ok {
			return key, nil
		}
	}
	return nil, fmt.Errorf("%s holds a PEM block %q that is no RSA private key: make one on the App's page and take the whole .pem file", KeyPrivateKey, block.Type)
}

// value trims: `echo token | base64` and YAML block scalars both end in a line break, which GitHub answers with 401.
func value(data map[string][]byte, key string) string {
	return string(bytes.TrimSpace(data[key]))
}

// quoted keeps a value that someone put under the wrong key, such as the private key under the id, out of the message.
func quoted(v string) string {
	if len(v) > 20 || strings.Contains(v, "_") {
		return fmt.Sprintf("(%d characters, not shown)", len(v))
	}
	return strconv.Quote(v)
}

func present(data map[string][]byte, keys []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return value(data, k) == "" }), ", ")
}

func contentHash(data map[string][]byte) string {
	h := sha256.New()
	for _, key := range []string{KeyToken, KeyAppID, KeyInstallationID, KeyPrivateKey, KeyEnterpriseURL} {
		fmt.Fprintf(h, "%s %q\n", key, value(data, key))
	}
	return hex.EncodeToString(h.Sum(nil))
}
