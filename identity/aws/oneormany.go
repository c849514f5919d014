// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"fmt"
	"strings"
)

// oneOrMany is JSON that is a value or a list of values: how IAM policies write lists.
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
