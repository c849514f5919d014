// SPDX-License-Identifier: Apache-2.0

package identitytest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// secretPatterns are what secrets look like: JSON Web Tokens, private keys, keys of AWS, tokens of Google and GitHub.
func secretPatterns() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}`),
		regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`),
		regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`),
		regexp.MustCompile(`\bya29\.[A-Za-z0-9_-]{10,}`),
		regexp.MustCompile(`\b(gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`),
	}
}

// checkSecrets looks for secrets in what a provider gives out. It does not quote what it finds.
func checkSecrets(f *report, shown string, known []string) {
	for _, p := range secretPatterns() {
		f.check(!p.MatchString(shown), RuleSecrets, fmt.Sprintf("something matches %s", p))
	}
	found := slices.ContainsFunc(known, func(s string) bool { return s != "" && strings.Contains(shown, s) })
	f.check(!found, RuleSecrets, "one of the case's secrets is in it")
}

// checkTrust is about the documents of a Truster.
func checkTrust(f *report, p identity.Provider, c Case) {
	truster, ok := identity.As[identity.Truster](p)
	if !ok {
		return
	}
	trust, err := truster.Trust(clone(c.Request))
	if err != nil {
		f.add(RuleTrust, err.Error())
		return
	}
	again, _ := truster.Trust(clone(c.Request))
	f.check(text(trust) == text(again), RuleTrust, "the same request gives other documents the second time")
	f.check(len(trust.Documents) > 0, RuleTrust, "there are no documents")
	for _, d := range trust.Documents {
		f.check(d.Title != "" && d.Body != "", RuleTrust, fmt.Sprintf("document %q has no title or no body", d.Title))
	}
	checkSecrets(f, text(trust), c.Secrets)
}
