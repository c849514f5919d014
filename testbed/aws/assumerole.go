// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"time"
)

// longestChained is how long a session lives that was opened with another's credentials, whatever its role allows.
const longestChained = time.Hour

type assumeRoleResult struct {
	XMLName         xml.Name `xml:"AssumeRoleResult"`
	AssumedRoleUser assumedRoleUser
	Credentials     credentials
}

type callerIdentityResult struct {
	XMLName xml.Name `xml:"GetCallerIdentityResult"`
	Arn     string
	UserID  string `xml:"UserId"`
	Account string
}

// assumeRole opens a session of a role for a session of another: role chaining.
func (s *Server) assumeRole(c *call) (any, error) {
	caller, _, err := s.authenticate(c)
	if err != nil {
		return nil, err
	}
	arn, role, err := c.roleAsked()
	if err != nil {
		return nil, err
	}
	c.who = caller.arn()
	known, ok := s.config.Roles[arn]
	if !ok || !s.mayAssume(caller, known, role, c.form.Get("ExternalId"), c.form.Get("RoleSessionName")) {
		return nil, c.denied("User: %s is not authorized to perform: sts:AssumeRole on resource: %s", caller.arn(), arn)
	}
	lifetime, err := c.duration(known.maxSession())
	if err != nil {
		return nil, err
	}
	if lifetime > longestChained {
		return nil, validation("The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining")
	}
	made := s.open(c, arn, role, lifetime)
	return assumeRoleResult{AssumedRoleUser: userOf(made), Credentials: credentialsOf(made)}, nil
}

// getCallerIdentity needs no permission: whoever AWS knows may ask who they are.
func (s *Server) getCallerIdentity(c *call) (any, error) {
	caller, _, err := s.authenticate(c)
	if err != nil {
		return nil, err
	}
	return callerIdentityResult{Arn: caller.arn(), UserID: caller.id(), Account: caller.role.account}, nil
}

// mayAssume: the role must trust the caller, and the caller's own permissions must say so too, unless the trust policy of
// a role of the same account names the caller's role itself.
func (s *Server) mayAssume(caller session, target Role, role roleARN, externalID, name string) bool {
	trusts := roleTrust{externalID: externalID, session: name}
	direct := []string{caller.roleARN, caller.arn()}
	if caller.role.account == role.account && trusts.names(target.TrustPolicy, direct) {
		return true
	}
	account := caller.role.account
	root := "arn:" + caller.role.partition + ":iam::" + account + ":root"
	return allows(s.config.Roles[caller.roleARN].Permissions, "sts:AssumeRole") &&
		trusts.names(target.TrustPolicy, append(direct, root, account, "*"))
}

// A roleTrust evaluates trust policies that name AWS principals. It knows StringEquals on sts:ExternalId and
// sts:RoleSessionName; any other condition does not hold, and a Deny always does.
type roleTrust struct{ externalID, session string }

type roleStatement struct {
	Effect    string
	Action    stringOrList
	Principal struct{ AWS stringOrList }
	Condition map[string]map[string]stringOrList
}

func (t roleTrust) names(policy []byte, principals []string) bool {
	var document struct{ Statement []json.RawMessage }
	if json.Unmarshal(policy, &document) != nil {
		return false
	}
	allowed := false
	for _, raw := range document.Statement {
		var st roleStatement
		if json.Unmarshal(raw, &st) != nil {
			return false // What cannot be read might be a Deny.
		}
		if !allows(st.Action, "sts:AssumeRole") || !overlap(st.Principal.AWS, principals) {
			continue
		}
		if st.Effect != "Allow" {
			return false
		}
		allowed = allowed || t.holds(st.Condition)
	}
	return allowed
}

func (t roleTrust) holds(conditions map[string]map[string]stringOrList) bool {
	for operator, keys := range conditions {
		for key, want := range keys {
			have, known := map[string]string{"sts:ExternalId": t.externalID, "sts:RoleSessionName": t.session}[key]
			if operator != "StringEquals" || !known || !slices.Contains(want, have) {
				return false
			}
		}
	}
	return true
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// stringOrList is how policies write lists.
type stringOrList []string

// UnmarshalJSON takes a string or a list of strings.
func (l *stringOrList) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = stringOrList{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}
