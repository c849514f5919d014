// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	amzTime = "20060102T150405Z"
	maxSkew = 15 * time.Minute
)

// An authorization is the parts of a SigV4 Authorization header.
type authorization struct {
	key, date, region, service string
	headers                    []string
	signature                  string
}

func parseAuthorization(header string) (authorization, bool) {
	fields, ok := strings.CutPrefix(header, "AWS4-HMAC-SHA256 ")
	if !ok {
		return authorization{}, false
	}
	values := map[string]string{}
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		values[name] = value
	}
	scope := strings.Split(values["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" || values["Signature"] == "" {
		return authorization{}, false
	}
	return authorization{
		key: scope[0], date: scope[1], region: scope[2], service: scope[3],
		headers: strings.Split(values["SignedHeaders"], ";"), signature: values["Signature"],
	}, true
}

// authenticate finds the session that signed a call and the region that it was signed for. Only sessions of this STS exist.
func (s *Server) authenticate(c *call) (session, string, error) {
	a, ok := parseAuthorization(c.http.Header.Get("Authorization"))
	if !ok {
		return session{}, "", c.unauthenticated()
	}
	found, ok := s.session(a.key)
	if !ok || !same(found.token, c.http.Header.Get("X-Amz-Security-Token")) {
		return session{}, "", c.unrecognized()
	}
	c.who = found.arn()
	if !c.now.Before(found.expires) {
		return session{}, "", c.expired()
	}
	if err := c.checkScope(a, found); err != nil {
		return session{}, "", err
	}
	return found, a.region, c.checkSignature(a, found)
}

func (c *call) checkScope(a authorization, s session) error {
	if a.service != c.service {
		return c.badSignature("Credential should be scoped to correct service: '%s'. ", c.service)
	}
	p, ok := partitionOf(a.region)
	if !ok {
		return c.badSignature("Credential should be scoped to a valid region, not '%s'. ", a.region)
	}
	if p.name != s.role.partition {
		return c.unrecognized() // Another partition does not know the key at all.
	}
	return nil
}

func (c *call) checkSignature(a authorization, s session) error {
	signed, err := time.Parse(amzTime, c.http.Header.Get("X-Amz-Date"))
	if err != nil {
		return c.badSignature("Date must be in ISO-8601 'basic format'. See http://en.wikipedia.org/wiki/ISO_8601")
	}
	// Against the machine's clock, not the injected one: SDKs always sign with the machine's.
	now := time.Now().Add(c.skew).UTC()
	if now.Sub(signed) > maxSkew {
		return c.badSignature("Signature expired: %s is now earlier than %s (%s - 15 min.)",
			signed.Format(amzTime), now.Add(-maxSkew).Format(amzTime), now.Format(amzTime))
	}
	if signed.Sub(now) > maxSkew {
		return c.badSignature("Signature not yet current: %s is still later than %s (%s + 15 min.)",
			signed.Format(amzTime), now.Add(maxSkew).Format(amzTime), now.Format(amzTime))
	}
	if want, err := c.sign(a, s, signed); err != nil || !same(want, a.signature) {
		return c.badSignature("The request signature we calculated does not match the signature you provided. " +
			"Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
	}
	return nil
}

// sign signs the request again, with the secret that the session was issued with.
func (c *call) sign(a authorization, s session, signed time.Time) (string, error) {
	again := &http.Request{Method: c.http.Method, Host: c.http.Host, Header: http.Header{}, URL: &url.URL{Path: c.http.URL.Path}}
	for _, name := range a.headers {
		switch name {
		case "host":
		case "content-length":
			again.ContentLength = int64(len(c.body))
		default:
			again.Header[http.CanonicalHeaderKey(name)] = c.http.Header.Values(name)
		}
	}
	sum := sha256.Sum256(c.body)
	credentials := awssdk.Credentials{AccessKeyID: a.key, SecretAccessKey: s.secret, SessionToken: s.token}
	err := v4.NewSigner().SignHTTP(context.WithoutCancel(c.http.Context()), credentials, again, hex.EncodeToString(sum[:]), a.service, a.region, signed)
	made, _ := parseAuthorization(again.Header.Get("Authorization"))
	return made.signature, err
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
