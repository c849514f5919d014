// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"regexp"
	"strings"
)

// maxSession and minSession are STS's limits for a RoleSessionName.
const (
	maxSession = 64
	minSession = 2
)

var sessionPattern = regexp.MustCompile(`^[A-Za-z0-9_+=,.@-]{2,64}$`)

func isSessionName(s string) bool { return sessionPattern.MatchString(s) }

// sessionName makes a session name of any text. It is what CloudTrail shows, so of a long name the tail is kept: there the
// names of one namespace differ.
func sessionName(s string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 128 && (isAlphanumeric(r) || strings.ContainsRune("_+=,.@-", r)) {
			return r
		}
		return '-'
	}, s)
	if len(clean) > maxSession {
		clean = clean[len(clean)-maxSession:]
	}
	return clean + strings.Repeat("-", max(0, minSession-len(clean)))
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
