// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"slices"
	"strings"
)

// A verdict is whether something holds. Its order makes min an "and" and max an "or".
type verdict int8

const (
	no verdict = iota
	// unknown is what cannot be told from a token: it neither allows nor keeps a Deny from applying.
	unknown
	yes
)

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// An operator is a condition operator taken apart: ForAnyValue:StringLikeIfExists.
type operator struct {
	// set is "", "ForAllValues" or "ForAnyValue".
	set      string
	base     string
	ifExists bool
}

func parseOperator(s string) operator {
	var o operator
	o.base = s
	if set, base, ok := strings.Cut(s, ":"); ok {
		o.set, o.base = set, base
	}
	if base, ok := strings.CutSuffix(o.base, "IfExists"); ok {
		o.base, o.ifExists = base, true
	}
	return o
}

// comparison returns how the operator compares a value of the request with one of the policy, and whether it is a negated
// one. It is nil for an operator that is not about strings.
func (o operator) comparison() (compare func(have, want string) bool, negated bool) {
	if o.set != "" && o.set != "ForAllValues" && o.set != "ForAnyValue" {
		return nil, false
	}
	switch o.base {
	case "StringEquals", "StringNotEquals":
		compare = func(have, want string) bool { return have == want }
	case "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase":
		compare = strings.EqualFold
	case "StringLike", "StringNotLike":
		compare = func(have, want string) bool { return like(want, have) }
	}
	return compare, strings.HasPrefix(o.base, "StringNot")
}

// exact reports whether the operator takes '*' literally.
func (o operator) exact() bool {
	return strings.HasPrefix(o.base, "String") && !strings.HasSuffix(o.base, "Like")
}

// holds evaluates the operator for one key that has the values have in the request; none means that the key is missing.
func (o operator) holds(have, want []string) verdict {
	if o.base == "Null" && o.set == "" {
		return isNull(have, want)
	}
	compare, negated := o.comparison()
	if compare == nil || slices.ContainsFunc(want, hasVariable) {
		return unknown
	}
	one := func(h string) bool {
		return slices.ContainsFunc(want, func(w string) bool { return compare(h, w) }) != negated
	}
	if len(have) == 0 {
		return verdictOf(o.missing(negated))
	}
	// A plain negated operator holds if no value matches, a plain positive one if any does.
	if o.set == "ForAllValues" || (o.set == "" && negated) {
		return verdictOf(!slices.ContainsFunc(have, func(h string) bool { return !one(h) }))
	}
	return verdictOf(slices.ContainsFunc(have, one))
}

// missing is what the operator says about a key that the request does not have.
func (o operator) missing(negated bool) bool {
	switch {
	case o.ifExists, o.set == "ForAllValues":
		return true
	case o.set == "ForAnyValue":
		return false
	}
	return negated
}

// isNull evaluates Null: "true" wants the key missing, "false" wants it there.
func isNull(have, want []string) verdict {
	if len(want) != 1 || (want[0] != "true" && want[0] != "false") {
		return unknown
	}
	return verdictOf((len(have) == 0) == (want[0] == "true"))
}

// hasVariable reports whether a policy value has a policy variable, which only AWS can fill in.
func hasVariable(s string) bool { return strings.Contains(s, "${") }

// like matches a pattern with '*' (any run of characters) and '?' (one character), case-sensitively, as IAM does.
func like(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	var i, j, mark int
	star := -1
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(p[i:]), "*") == ""
}

// keyValues are the values of condition keys that a token decides.
type keyValues struct {
	issuer string
	claims Claims
}

// values returns the values of a key, none if the request does not have it, and whether that can be told from a token.
// Names of keys are case-insensitive.
func (k keyValues) values(key string) (have []string, known bool) {
	lower := strings.ToLower(key)
	if claim, ok := strings.CutPrefix(lower, strings.ToLower(k.issuer)+":"); ok {
		return k.claim(claim), true
	}
	if lower == "sts:rolesessionname" {
		return some(k.claims.Session), k.claims.Session != ""
	}
	global := strings.HasPrefix(lower, "aws:") || strings.HasPrefix(lower, "sts:")
	return nil, !global
}

// claim returns a claim that IAM makes a condition key. Kubernetes tokens have only these two of them.
func (k keyValues) claim(name string) []string {
	switch name {
	case "aud":
		return k.claims.Audience
	case "sub":
		return some(k.claims.Subject)
	}
	return nil
}

func some(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// explain says in words why a condition does not hold.
func explain(op, key string, have, want []string, v verdict) string {
	if v == unknown {
		return fmt.Sprintf("%s on %s cannot be decided from a token", op, key)
	}
	got := "the token has no such claim"
	if len(have) > 0 {
		got = "the token has " + quoted(have)
	}
	return fmt.Sprintf("%s on %s wants %s, %s", op, key, quoted(want), got)
}

func quoted(values []string) string {
	q := make([]string, 0, len(values))
	for _, v := range values {
		q = append(q, fmt.Sprintf("%q", v))
	}
	return strings.Join(q, " or ")
}
