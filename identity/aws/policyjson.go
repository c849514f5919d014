// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
)

// A policyStatement is a statement to print, with its elements in the order in which AWS's own documents have them.
type policyStatement struct {
	Sid       string                          `json:",omitempty"`
	Effect    string                          `json:",omitempty"`
	Principal map[string]string               `json:",omitempty"`
	Action    oneOrMore                       `json:",omitempty"`
	Resource  oneOrMore                       `json:",omitempty"`
	Condition map[string]map[string]oneOrMore `json:",omitempty"`
}

// oneOrMore prints a single value without brackets, as people write it.
type oneOrMore []string

func one(s string) oneOrMore { return oneOrMore{s} }

// MarshalJSON writes a string or a list.
func (o oneOrMore) MarshalJSON() ([]byte, error) {
	if len(o) == 1 {
		return json.Marshal(o[0])
	}
	return json.Marshal([]string(o))
}

// document prints a policy. ARNs and claims have none of the characters that JSON escapes for HTML.
func document(statements ...policyStatement) string {
	b, err := json.MarshalIndent(struct {
		Version   string
		Statement []policyStatement
	}{"2012-10-17", statements}, "", "  ")
	if err != nil {
		// Strings, lists and maps of strings always encode.
		return err.Error()
	}
	return string(b) + "\n"
}
