// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Decision is what IAM would decide about a token that asks for a role.
type Decision struct {
	// Allowed is whether the role may be assumed. What cannot be told from the token alone counts as not allowed.
	Allowed bool
	// Reason is one sentence: which statement decided, or what the nearest statement lacked.
	Reason string
	// Advice is what a person should look at in the document, also if it allows the role.
	Advice []string
}

const webIdentityAction = "sts:AssumeRoleWithWebIdentity"

// EvaluateTrust decides, as IAM does, whether the trust policy document of role roleARN lets a token with these claims
// assume it. It is pure. The token's signature, expiry and the existence of the OIDC provider are not its business.
func EvaluateTrust(document []byte, roleARN string, c Claims) Decision {
	r, err := parseRole(roleARN)
	if err != nil {
		return Decision{Reason: "role " + err.Error()}
	}
	doc, err := parsePolicy(document)
	if err != nil {
		return Decision{Reason: fmt.Sprintf("the trust policy of %s is not one that IAM takes: %v", r.arn, err)}
	}
	t := trial{provider: r.providerARN(c.Issuer), keys: keyValues{issuer: issuerKey(c.Issuer), claims: c}}
	d := t.decide(doc)
	d.Advice = t.advise(doc)
	return d
}

// A trial is one request that a policy is tried with.
type trial struct {
	provider string
	keys     keyValues
}

// decide applies IAM's rule: a Deny that applies wins, else an Allow that applies, else nothing is allowed.
func (t trial) decide(doc policyDocument) Decision {
	nearest := miss{why: "no statement allows " + webIdentityAction}
	d := Decision{}
	for i, s := range doc.Statement {
		v, m := t.try(s)
		switch {
		case s.Effect == "Deny" && v != no:
			return Decision{Reason: fmt.Sprintf("%s denies it", s.title(i))}
		case s.Effect == "Allow" && v == yes && !d.Allowed:
			d = Decision{Allowed: true, Reason: fmt.Sprintf("%s allows it", s.title(i))}
		case s.Effect == "Allow" && v != yes && m.passed > nearest.passed:
			nearest = miss{passed: m.passed, why: s.title(i) + ": " + m.why}
		}
	}
	if !d.Allowed {
		d.Reason = nearest.why
	}
	return d
}

// A miss is why a statement does not apply, and how many of its parts fitted before.
type miss struct {
	passed int
	why    string
}

// try reports whether a statement applies.
func (t trial) try(s statement) (verdict, miss) {
	if !t.matchesAction(s) {
		return no, miss{1, fmt.Sprintf("its actions %s do not contain %s", quoted(append(s.Action, s.NotAction...)), webIdentityAction)}
	}
	if !t.matchesPrincipal(s) {
		return no, miss{2, fmt.Sprintf("its principal is not {\"Federated\": %q}", t.provider)}
	}
	return t.conditions(s)
}

func (t trial) matchesAction(s statement) bool {
	is := func(pattern string) bool { return like(strings.ToLower(pattern), strings.ToLower(webIdentityAction)) }
	if len(s.NotAction) > 0 {
		return !slices.ContainsFunc(s.NotAction, is)
	}
	return slices.ContainsFunc(s.Action, is)
}

func (t trial) matchesPrincipal(s statement) bool {
	in := func(p principals) bool {
		return p.any || slices.Contains(p.byKind["Federated"], t.provider) || slices.Contains(p.byKind["AWS"], "*")
	}
	if !s.NotPrincipal.isZero() {
		return !in(s.NotPrincipal)
	}
	return in(s.Principal)
}

// conditions evaluates all of a statement's conditions: all have to hold.
func (t trial) conditions(s statement) (verdict, miss) {
	all, m := yes, miss{passed: 3}
	for _, op := range slices.Sorted(maps.Keys(s.Condition)) {
		for _, key := range slices.Sorted(maps.Keys(s.Condition[op])) {
			have, want := t.have(key), s.Condition[op][key]
			v := t.holds(op, key, want)
			if v == yes {
				m.passed++
			} else if m.why == "" || v < all {
				m.why = explain(op, key, have, want, v)
			}
			all = min(all, v)
		}
	}
	return all, m
}

func (t trial) have(key string) []string {
	have, _ := t.keys.values(key)
	return have
}

func (t trial) holds(op, key string, want []string) verdict {
	have, known := t.keys.values(key)
	if !known {
		return unknown
	}
	return parseOperator(op).holds(have, want)
}
