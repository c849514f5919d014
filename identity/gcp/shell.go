// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"regexp"
	"strings"
)

// flag is a flag of gcloud, left out if its value is not known.
func flag(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + value
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// quoted is a word for a shell. Names have a grammar that needs no quotes; issuers and audiences do not.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
