// SPDX-License-Identifier: Apache-2.0

// Package token looks at ServiceAccount tokens before a cloud does, so that a provider can say what the cloud would not. It
// verifies no signature, and no error of it quotes a token.
package token

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

// Claims are what clouds look at in a ServiceAccount token.
type Claims struct {
	// Issuer, Subject and Audience are iss, sub and aud.
	Issuer   string
	Subject  string
	Audience []string
	// IssuedAt and Expires are iat and exp, zero if the token has none.
	IssuedAt time.Time
	Expires  time.Time
	// KeyID and Algorithm are kid and alg of the token's header.
	KeyID     string
	Algorithm string
}

// Decode reads the claims of a token. Whoever must know that they are true has to verify the signature first.
func Decode(token identity.Secret) (Claims, error) {
	parts := strings.Split(strings.TrimSpace(token.Reveal()), ".")
	if len(parts) != 3 {
		return Claims{}, invalid(fmt.Errorf("it has %d parts, not 3 (header, claims, signature)", len(parts)))
	}
	var header struct {
		KeyID     string `json:"kid"`
		Algorithm string `json:"alg"`
	}
	if err := decodePart(parts[0], &header); err != nil {
		return Claims{}, invalid(fmt.Errorf("its header is %w", err))
	}
	var body struct {
		Issuer   string      `json:"iss"`
		Subject  string      `json:"sub"`
		Audience audience    `json:"aud"`
		IssuedAt numericDate `json:"iat"`
		Expires  numericDate `json:"exp"`
	}
	if err := decodePart(parts[1], &body); err != nil {
		return Claims{}, invalid(fmt.Errorf("its claims are %w", err))
	}
	return Claims{
		Issuer: body.Issuer, Subject: body.Subject, Audience: body.Audience,
		IssuedAt: time.Time(body.IssuedAt), Expires: time.Time(body.Expires),
		KeyID: header.KeyID, Algorithm: header.Algorithm,
	}, nil
}

func invalid(why error) error {
	return identity.Errorf(identity.Invalid, "the token is not a JSON Web Token (JWT): %w", why)
}

// decodePart decodes one part of a JWT. Decoders quote what they choke on, so their errors are replaced.
func decodePart(part string, into any) error {
	b, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return errors.New("not base64url")
	}
	if err := json.Unmarshal(b, into); err != nil {
		return errors.New("not a JSON object of the expected types")
	}
	return nil
}

// audience is a text or a list of texts.
type audience []string

// UnmarshalJSON takes both.
func (a *audience) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*[]string)(a)) == nil {
		return nil
	}
	*a = audience{""}
	return json.Unmarshal(b, &(*a)[0])
}

// numericDate is a JWT time: seconds since 1970, fractions allowed.
type numericDate time.Time

// lastSecond is the end of the year 9999, the last that time.Time can encode.
const lastSecond = 253402300799

// UnmarshalJSON takes a number. Clouds refuse texts here, so we do.
func (d *numericDate) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err != nil {
		return errors.New("time is not a number")
	}
	if seconds < 0 || seconds > lastSecond {
		return errors.New("time is out of range")
	}
	whole, fraction := math.Modf(seconds)
	*d = numericDate(time.Unix(int64(whole), int64(fraction*1e9)).UTC())
	return nil
}
