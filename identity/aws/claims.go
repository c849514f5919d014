// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

// Claims are what AWS looks at in a ServiceAccount token, and the name of the session that it is asked for.
type Claims struct {
	// Issuer, Subject and Audience are iss, sub and aud.
	Issuer   string
	Subject  string
	Audience []string
	// IssuedAt and Expires are iat and exp; IssuedAt is zero if the token has none.
	IssuedAt time.Time
	Expires  time.Time
	// KeyID and Algorithm are kid and alg of the token's header.
	KeyID     string
	Algorithm string
	// Session is the RoleSessionName of the call, for conditions on sts:RoleSessionName. Empty: not known.
	Session string
}

// maxToken is the most that STS takes as WebIdentityToken.
const maxToken = 20000

// DecodeClaims reads the claims of a token. It does not verify the signature: whoever must know that the claims are true
// has to do that first. Its errors never quote the token.
func DecodeClaims(token identity.Secret) (Claims, error) {
	raw := strings.TrimSpace(token.Reveal())
	if len(raw) > maxToken {
		return Claims{}, identity.Errorf(identity.Invalid, "token: %d bytes, STS takes at most %d", len(raw), maxToken)
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return Claims{}, identity.Errorf(identity.Invalid, "token: has %d parts, a JWT has 3 (header, claims, signature)", len(parts))
	}
	var header struct {
		KeyID     string `json:"kid"`
		Algorithm string `json:"alg"`
	}
	if err := decodePart(parts[0], &header); err != nil {
		return Claims{}, identity.Errorf(identity.Invalid, "token: header: %w", err)
	}
	var body struct {
		Issuer   string      `json:"iss"`
		Subject  string      `json:"sub"`
		Audience oneOrMany   `json:"aud"`
		IssuedAt numericDate `json:"iat"`
		Expires  numericDate `json:"exp"`
	}
	if err := decodePart(parts[1], &body); err != nil {
		return Claims{}, identity.Errorf(identity.Invalid, "token: claims: %w", err)
	}
	return Claims{
		Issuer: body.Issuer, Subject: body.Subject, Audience: body.Audience,
		IssuedAt: time.Time(body.IssuedAt), Expires: time.Time(body.Expires),
		KeyID: header.KeyID, Algorithm: header.Algorithm,
	}, nil
}

// decodePart decodes one part of a JWT. Decoders quote what they choke on, so their errors are replaced.
func decodePart(part string, into any) error {
	b, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return fmt.Errorf("is not base64url")
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("is not a JSON object of the expected types")
	}
	return nil
}

// numericDate is a JWT time: seconds since 1970, fractions allowed.
type numericDate time.Time

// lastSecond is the end of the year 9999, the last that time.Time can encode.
const lastSecond = 253402300799

// UnmarshalJSON takes a number. AWS refuses strings here, so we do.
func (d *numericDate) UnmarshalJSON(b []byte) error {
	var seconds float64
	if err := json.Unmarshal(b, &seconds); err != nil {
		return fmt.Errorf("time is not a number")
	}
	if seconds < 0 || seconds > lastSecond {
		return fmt.Errorf("time is out of range")
	}
	whole, fraction := math.Modf(seconds)
	*d = numericDate(time.Unix(int64(whole), int64(fraction*1e9)).UTC())
	return nil
}

// oneOrMany is JSON that is a value or a list of values: how both JWT audiences and IAM policies write lists.
// Booleans and numbers are kept as they are written.
type oneOrMany []string

// UnmarshalJSON takes a string, a boolean, a number or a list of them.
func (o *oneOrMany) UnmarshalJSON(b []byte) error {
	var many []json.RawMessage
	if err := json.Unmarshal(b, &many); err != nil {
		many = []json.RawMessage{b}
	}
	values := make(oneOrMany, 0, len(many))
	for _, m := range many {
		s, err := scalar(m)
		if err != nil {
			return err
		}
		values = append(values, s)
	}
	*o = values
	return nil
}

func scalar(b json.RawMessage) (string, error) {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return v, nil
	case bool, float64:
		return strings.TrimSpace(string(b)), nil
	}
	return "", fmt.Errorf("%.40s is not a string or a list of strings", b)
}
