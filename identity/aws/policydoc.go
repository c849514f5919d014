// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A policyDocument is an IAM policy, as far as trust policies use it.
type policyDocument struct {
	Version   string
	ID        string `json:"Id"`
	Statement statements
}

type statements []statement

// A statement is one statement of a trust policy.
type statement struct {
	Sid          string
	Effect       string
	Principal    principals
	NotPrincipal principals
	Action       oneOrMany
	NotAction    oneOrMany
	Condition    map[string]map[string]oneOrMany
}

// principals is a Principal element: "*", or lists by kind.
type principals struct {
	any    bool
	byKind map[string]oneOrMany
}

// UnmarshalJSON takes "*" or an object.
func (p *principals) UnmarshalJSON(b []byte) error {
	var star string
	if json.Unmarshal(b, &star) == nil {
		if star != "*" {
			return fmt.Errorf(`principal %q is neither "*" nor an object such as {"Federated": "arn:..."}`, star)
		}
		p.any = true
		return nil
	}
	return json.Unmarshal(b, &p.byKind)
}

func (p principals) isZero() bool { return !p.any && len(p.byKind) == 0 }

// UnmarshalJSON takes one statement or a list of them.
func (s *statements) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '{' {
		b = listOf(b)
	}
	var many []statement
	d := json.NewDecoder(bytes.NewReader(b))
	// IAM refuses elements that it does not know; "Conditions" must not pass for a statement without a condition.
	d.DisallowUnknownFields()
	if err := d.Decode(&many); err != nil {
		return err
	}
	*s = many
	return nil
}

func listOf(object []byte) []byte {
	return append(append([]byte{'['}, object...), ']')
}

// maxPolicy is far above IAM's own limit of 4096 characters for a trust policy.
const maxPolicy = 64 << 10

// parsePolicy parses a trust policy and refuses what IAM refuses.
func parsePolicy(document []byte) (policyDocument, error) {
	var doc policyDocument
	if len(document) > maxPolicy {
		return doc, fmt.Errorf("it is %d bytes long, IAM takes 4096 at most", len(document))
	}
	if err := uniqueKeys(document); err != nil {
		return doc, err
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return doc, err
	}
	if len(doc.Statement) == 0 {
		return doc, errors.New("has no Statement")
	}
	for i, s := range doc.Statement {
		if err := s.check(); err != nil {
			return doc, fmt.Errorf("%s: %w", s.title(i), err)
		}
	}
	return doc, nil
}

func (s statement) title(i int) string {
	if s.Sid != "" {
		return fmt.Sprintf("statement %d (%s)", i+1, s.Sid)
	}
	return fmt.Sprintf("statement %d", i+1)
}

// check refuses a statement that lacks an element or has one twice over.
func (s statement) check() error {
	switch {
	case s.Effect != "Allow" && s.Effect != "Deny":
		return fmt.Errorf("effect %q is neither Allow nor Deny", s.Effect)
	case s.Principal.isZero() == s.NotPrincipal.isZero():
		return errors.New("has to have one of Principal and NotPrincipal")
	case s.Effect == "Allow" && s.Principal.isZero():
		return errors.New("NotPrincipal does not go with Effect Allow")
	case (len(s.Action) == 0) == (len(s.NotAction) == 0):
		return errors.New("has to have one of Action and NotAction")
	}
	return nil
}

// uniqueKeys refuses JSON in which a key stands twice in one object: two StringEquals blocks are a usual mistake, and
// only one of them would be looked at.
func uniqueKeys(document []byte) error {
	d := json.NewDecoder(bytes.NewReader(document))
	if err := walkUnique(d); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("has text after the JSON object")
	}
	return nil
}

// walkUnique reads one JSON value.
func walkUnique(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return fmt.Errorf("is not JSON: %w", err)
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return fmt.Errorf("is not JSON: %w", err)
			}
			name, _ := key.(string)
			if seen[name] {
				return fmt.Errorf("has key %q twice in one object: only one of them would count", name)
			}
			seen[name] = true
		}
		if err := walkUnique(d); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("is not JSON: %w", err)
	}
	return nil
}
