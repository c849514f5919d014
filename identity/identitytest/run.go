// SPDX-License-Identifier: Apache-2.0

// Package identitytest is the suite that every identity provider passes, ours and a third party's.
// It asks nothing of a cloud: what it checks is that a provider keeps the promises of package identity.
package identitytest

import (
	"testing"

	"github.com/runner-identity/runner-identity/identity"
)

// A Case is one request to try a provider with.
type Case struct {
	// Name says what the request is about, in words.
	Name string
	// Request is what the provider is asked. Use the zero Request.Settings if the provider needs none.
	Request identity.Request
	// WantProblem is the field that a bad request's problem has to name, such as "aws.roleARN". Empty: the request is good.
	WantProblem string
	// Secrets are strings of which no part may be in a plan, such as a token that the provider knows.
	Secrets []string
}

// Run checks a provider with each case, and with the bad settings that no provider may take. At least one case has to be a
// good request and one a bad one: a suite that was never given either says nothing.
func Run(t *testing.T, p identity.Provider, cases ...Case) {
	t.Helper()
	for _, v := range Check(p, cases...) {
		t.Errorf("%s", v)
	}
}

// A Violation is a promise that a provider broke.
type Violation struct {
	// Rule is the promise.
	Rule Rule
	// Case is the name of the case; empty if the rule is about the provider itself or the cases.
	Case string
	// Detail says what was seen.
	Detail string
}

// String is one line.
func (v Violation) String() string {
	if v.Case == "" {
		return string(v.Rule) + ": " + v.Detail
	}
	return v.Case + ": " + string(v.Rule) + ": " + v.Detail
}

// Check is Run for programs that are not tests: it lists what Run would report.
func Check(p identity.Provider, cases ...Case) []Violation {
	found := report{}
	checkName(&found, p)
	checkCases(&found, cases)
	for _, c := range cases {
		found.name = c.Name
		if c.WantProblem != "" {
			checkRefusal(&found, p, c)
			continue
		}
		checkGood(&found, p, c)
	}
	return found.violations
}

// report collects violations of the case that is being checked.
type report struct {
	name       string
	violations []Violation
}

func (r *report) add(rule Rule, detail string) {
	r.violations = append(r.violations, Violation{Rule: rule, Case: r.name, Detail: detail})
}

// check adds a violation unless ok.
func (r *report) check(ok bool, rule Rule, detail string) {
	if !ok {
		r.add(rule, detail)
	}
}
