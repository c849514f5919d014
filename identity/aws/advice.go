// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/runner-identity/runner-identity/identity/token"
)

// advise lists the usual mistakes in a trust policy. Each line says what is wrong and what would be right.
func (t trial) advise(doc policyDocument) []string {
	var advice []string
	for i, s := range doc.Statement {
		if s.Effect != "Allow" {
			continue
		}
		for _, a := range slices.Concat(t.adviseShape(s), t.adviseConditions(s)) {
			advice = append(advice, s.title(i)+": "+a)
		}
	}
	return slices.Compact(advice)
}

// adviseShape looks at principal, action and missing conditions.
func (t trial) adviseShape(s statement) []string {
	var advice []string
	if slices.Contains(s.Principal.byKind["Service"], podIdentityService) {
		return []string{"it is for EKS Pod Identity; a token of a ServiceAccount needs a Federated principal and " + webIdentityAction}
	}
	if !t.matchesAction(s) && slices.Contains(s.Action, "sts:AssumeRole") && len(s.Principal.byKind["Federated"]) > 0 {
		advice = append(advice, "the action for a Federated principal is "+webIdentityAction+", not sts:AssumeRole")
	}
	if s.Principal.any || slices.Contains(s.Principal.byKind["AWS"], "*") {
		advice = append(advice, "principal \"*\" lets in every account of AWS; name the OIDC provider "+t.provider)
	}
	if !t.matchesAction(s) || !t.matchesPrincipal(s) {
		return advice
	}
	if !t.hasCondition(s, "sub") {
		advice = append(advice, "no condition on "+t.keys.issuer+":sub: every ServiceAccount of the cluster can assume the role")
	}
	if !t.hasCondition(s, "aud") {
		advice = append(advice, "no condition on "+t.keys.issuer+":aud: tokens for other audiences are taken too, if the OIDC provider lists them")
	}
	return advice
}

// hasCondition reports whether any condition is on that claim of our issuer.
func (t trial) hasCondition(s statement, claim string) bool {
	for _, keys := range s.Condition {
		for key := range keys {
			if strings.EqualFold(key, t.keys.issuer+":"+claim) {
				return true
			}
		}
	}
	return false
}

// adviseConditions looks at each condition.
func (t trial) adviseConditions(s statement) []string {
	var advice []string
	for _, op := range slices.Sorted(maps.Keys(s.Condition)) {
		for _, key := range slices.Sorted(maps.Keys(s.Condition[op])) {
			want := s.Condition[op][key]
			advice = append(advice, t.adviseOperator(op, key, want)...)
			advice = append(advice, t.adviseKey(key)...)
			for _, value := range want {
				advice = append(advice, t.adviseValue(op, key, value)...)
			}
		}
	}
	return advice
}

// adviseOperator looks at an operator.
func (t trial) adviseOperator(op, key string, want []string) []string {
	o := parseOperator(op)
	compare, _ := o.comparison()
	_, known := t.keys.values(key)
	switch {
	case !known:
		return []string{fmt.Sprintf("%s on %s cannot be decided from a token and counts as not met here", op, key)}
	case compare == nil && (o.base != "Null" || o.set != ""):
		return []string{fmt.Sprintf("operator %q is not one that this check knows; it counts as not met here", op)}
	case slices.ContainsFunc(want, hasVariable):
		return []string{fmt.Sprintf("%s on %s has a policy variable, which only AWS can fill in; it counts as not met here", op, key)}
	case o.set == "ForAllValues":
		return []string{fmt.Sprintf("%s on %s is also met by a token without that claim; use %s", op, key, o.base)}
	case o.ifExists:
		return []string{fmt.Sprintf("%s on %s is also met by a token without that claim; leave IfExists away", op, key)}
	}
	return nil
}

// adviseKey looks at the name of a condition key.
func (t trial) adviseKey(key string) []string {
	i := strings.LastIndex(key, ":")
	if i < 0 {
		return []string{fmt.Sprintf("%q is not a condition key; those of the token are %s:sub and %s:aud", key, t.keys.issuer, t.keys.issuer)}
	}
	prefix, claim := key[:i], strings.ToLower(key[i+1:])
	ours := strings.EqualFold(prefix, t.keys.issuer)
	switch {
	case ours && claim != "sub" && claim != "aud":
		return []string{fmt.Sprintf("%s: a Kubernetes token has no claim %q that IAM looks at, only sub and aud", key, claim)}
	case strings.HasPrefix(prefix, "https://"):
		return []string{fmt.Sprintf("%s: condition keys have no scheme: %s:%s", key, t.keys.issuer, claim)}
	case !ours && (claim == "sub" || claim == "aud"):
		return []string{fmt.Sprintf("%s is about another issuer; the token's is %s", key, t.keys.issuer)}
	}
	return nil
}

// adviseValue looks at one value of a condition.
func (t trial) adviseValue(op, key, value string) []string {
	lower := strings.ToLower(key)
	isSub, isAud := strings.HasSuffix(lower, ":sub"), strings.HasSuffix(lower, ":aud")
	var advice []string
	if parseOperator(op).exact() && (isSub || isAud) && strings.ContainsAny(value, "*?") {
		advice = append(advice, fmt.Sprintf("%s takes %q literally; use StringLike for wildcards", op, value))
	}
	if isAud && strings.HasPrefix(value, token.SubjectPrefix) {
		advice = append(advice, fmt.Sprintf("%q is a subject: the key has to be %s:sub", value, t.keys.issuer))
	}
	if isSub {
		advice = append(advice, t.adviseSubject(value)...)
	}
	return advice
}

// adviseSubject looks at a subject that a condition wants.
func (t trial) adviseSubject(value string) []string {
	have := t.keys.claims.Subject
	switch {
	case value == token.SubjectPrefix+"*" || value == "*":
		return []string{"every ServiceAccount of the cluster can assume the role"}
	case value != have && strings.EqualFold(value, have):
		return []string{fmt.Sprintf("%q differs from the token's %q in upper and lower case only", value, have)}
	case !strings.HasPrefix(value, token.SubjectPrefix) && !like(value, have):
		return []string{fmt.Sprintf("%q is not a subject of Kubernetes: %s<namespace>:<name>", value, token.SubjectPrefix)}
	}
	return nil
}
