// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// literal is a string literal in a CEL expression.
var literal = regexp.MustCompile(`"([^"]+)"`)

// TestEveryRuleOfTheSchemaHasAMistakeThatMeetsIt finds a rule that was added without a case in the tables.
func TestEveryRuleOfTheSchemaHasAMistakeThatMeetsIt(t *testing.T) {
	var wants []string
	for _, tc := range refusedRunners {
		wants = append(wants, tc.want)
	}
	for _, tc := range refusedIdentities {
		wants = append(wants, tc.want)
	}
	for _, tc := range refusedGCP {
		wants = append(wants, tc.want)
	}
	for _, tc := range refusedSpecs {
		wants = append(wants, tc.want)
	}
	files, err := filepath.Glob("../../config/crd/runner-identity.dev_*.yaml")
	require.NoError(t, err)
	met := 0
	for _, file := range files {
		for _, words := range rules(documents(t, file)[0].Object) {
			if strings.Contains(words, " is longer than 47 characters") || strings.Contains(words, " is longer than 63 characters") || strings.Contains(words, `"True", "False", "Unknown"`) {
				continue // has a test of its own; is Kubernetes' own
			}
			met++
			assert.True(t, slices.ContainsFunc(wants, func(want string) bool { return strings.Contains(want, words) }),
				"%s: no mistake in the tables meets the rule or enum that says %q", filepath.Base(file), words)
		}
	}
	assert.Greater(t, met, 50)
}

// rules are what the rules and enums of a schema say: a message, the last constant part of one, or the supported values.
func rules(v any) (found []string) {
	switch v := v.(type) {
	case []any:
		for _, child := range v {
			found = append(found, rules(child)...)
		}
	case map[string]any:
		found = append(found, said(v)...)
		for _, child := range v {
			found = append(found, rules(child)...)
		}
	}
	return found
}

func said(schema map[string]any) []string {
	if message, ok := schema["message"].(string); ok && schema["rule"] != nil {
		return []string{message}
	}
	if expression, ok := schema["messageExpression"].(string); ok {
		all := literal.FindAllStringSubmatch(expression, -1)
		return []string{strings.TrimPrefix(all[len(all)-1][1], "'")}
	}
	if enum, ok := schema["enum"].([]any); ok {
		quoted := make([]string, len(enum))
		for i, value := range enum {
			quoted[i] = fmt.Sprintf("%q", value)
		}
		return []string{"supported values: " + strings.Join(quoted, ", ")}
	}
	return nil
}
