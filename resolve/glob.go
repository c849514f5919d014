// SPDX-License-Identifier: Apache-2.0

package resolve

import "strings"

// globMatches reports whether s is matched by a glob in which '*' stands for any run of characters, '/' included: role names
// have paths, so path.Match would let no glob cover them. All else in a glob is literal.
func globMatches(glob, s string) bool {
	prefix, rest, star := strings.Cut(glob, "*")
	s, ok := strings.CutPrefix(s, prefix)
	if !ok || !star {
		return ok && s == ""
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}
