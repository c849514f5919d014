// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGlobMatches(t *testing.T) {
	for name, c := range map[string]struct {
		glob, s string
		want    bool
	}{
		"a literal matches itself":                      {"arn:aws:iam::111122223333:role/ci", "arn:aws:iam::111122223333:role/ci", true},
		"a literal matches nothing longer":              {"arn:aws:iam::111122223333:role/ci", "arn:aws:iam::111122223333:role/ci-admin", false},
		"a star at the end covers the rest":             {"arn:aws:iam::111122223333:role/ci-*", "arn:aws:iam::111122223333:role/ci-web", true},
		"a star covers slashes, for roles with a path":  {"arn:aws:iam::111122223333:role/*", "arn:aws:iam::111122223333:role/team/ci", true},
		"a star in the middle does not lose the end":    {"arn:aws:iam::*:role/ci", "arn:aws:iam::111122223333:role/ci", true},
		"a star in the middle still wants the end":      {"arn:aws:iam::*:role/ci", "arn:aws:iam::111122223333:role/other", false},
		"two stars with a repeated part between":        {"a*b*b", "ab", false},
		"a star matches nothing at all too":             {"ci*", "ci", true},
		"an empty glob matches only an empty principal": {"", "x", false},
		"dots are literal, not any character":           {"ci@acme-ci.iam*", "ci@acme-cixiam.gserviceaccount.com", false},
		"prefix and suffix may not overlap":             {"aba*ba", "aba", false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, globMatches(c.glob, c.s))
		})
	}
}
