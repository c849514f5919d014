// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"time"

	identityaws "github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/token"
)

const (
	shortestSession = 900
	longestSession  = 43200
)

type webIdentityResult struct {
	XMLName          xml.Name `xml:"AssumeRoleWithWebIdentityResult"`
	Subject          string   `xml:"SubjectFromWebIdentityToken"`
	Audience         string
	AssumedRoleUser  assumedRoleUser
	Credentials      credentials
	Provider         string
	PackedPolicySize int
}

type assumedRoleUser struct {
	Arn           string
	AssumedRoleID string `xml:"AssumedRoleId"`
}

type credentials struct {
	AccessKeyID     string `xml:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
	Expiration      string
}

// assumeRoleWithWebIdentity trades a ServiceAccount token for a session of a role.
func (s *Server) assumeRoleWithWebIdentity(c *call) (any, error) {
	arn, role, err := c.roleAsked()
	if err != nil {
		return nil, err
	}
	token := c.form.Get("WebIdentityToken")
	if len(token) < 4 || len(token) > 20000 {
		return nil, validation("1 validation error detected: Value at 'webIdentityToken' failed to satisfy constraint: Member must have length between 4 and 20000")
	}
	proof, err := s.verify(c, role.account, token)
	if err != nil {
		return nil, err
	}
	known, ok := s.trusting(c, arn, proof)
	if !ok {
		// One answer for all: STS does not say which roles exist, nor what in a trust policy did not hold.
		return nil, c.denied("Not authorized to perform sts:AssumeRoleWithWebIdentity")
	}
	lifetime, err := c.duration(known.maxSession())
	if err != nil {
		return nil, err
	}
	made := s.open(c, arn, role, lifetime)
	return webIdentityResult{
		Subject: proof.Subject, Audience: proof.audience, AssumedRoleUser: userOf(made), Credentials: credentialsOf(made),
		Provider: providerARN(role, proof.Issuer),
	}, nil
}

// trusting is the role, if it exists and its trust policy lets the token in.
func (s *Server) trusting(c *call, arn string, proof verified) (Role, bool) {
	role, ok := s.config.Roles[arn]
	if !ok {
		c.why = "there is no such role"
		return Role{}, false
	}
	decision := identityaws.EvaluateTrust(role.TrustPolicy, arn, identityaws.Claims{
		Claims:  token.Claims{Issuer: proof.Issuer, Subject: proof.Subject, Audience: proof.Audience, Expires: proof.Expiry.Time()},
		Session: c.form.Get("RoleSessionName"),
	})
	if !decision.Allowed {
		c.why = decision.Reason
	}
	return role, decision.Allowed
}

// roleAsked reads and checks RoleArn and RoleSessionName.
func (c *call) roleAsked() (string, roleARN, error) {
	arn, name := c.form.Get("RoleArn"), c.form.Get("RoleSessionName")
	c.who = arn
	role, ok := parseRoleARN(arn)
	switch {
	case len(arn) < 20 || len(arn) > 2048:
		return "", role, validation("1 validation error detected: Value '%s' at 'roleArn' failed to satisfy constraint: Member must have length between 20 and 2048", arn)
	case !ok:
		return "", role, validation("Request ARN is invalid")
	case len(name) < 2 || len(name) > 64:
		return "", role, validation("1 validation error detected: Value '%s' at 'roleSessionName' failed to satisfy constraint: Member must have length between 2 and 64", name)
	case !regexp.MustCompile(`^[\w+=,.@-]+$`).MatchString(name):
		return "", role, validation("1 validation error detected: Value '%s' at 'roleSessionName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\\w+=,.@-]*", name)
	case c.form.Has("Policy") || c.form.Has("PolicyArns.member.1.arn"):
		// To take it and not to enforce it would let through what AWS refuses.
		return "", role, validation("Policy: this simulator does not know session policies")
	}
	return arn, role, nil
}

// duration reads and checks DurationSeconds against the role's longest session.
func (c *call) duration(longest time.Duration) (time.Duration, error) {
	asked := c.form.Get("DurationSeconds")
	if asked == "" {
		return min(defaultSession, longest), nil
	}
	seconds, err := strconv.Atoi(asked)
	if err != nil || seconds < shortestSession || seconds > longestSession {
		return 0, validation("1 validation error detected: Value '%s' at 'durationSeconds' failed to satisfy constraint: Member must have value between %d and %d", asked, shortestSession, longestSession)
	}
	d := time.Duration(seconds) * time.Second
	if d > longest {
		return 0, validation("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	return d, nil
}

func userOf(s session) assumedRoleUser { return assumedRoleUser{Arn: s.arn(), AssumedRoleID: s.id()} }

func credentialsOf(s session) credentials {
	return credentials{
		AccessKeyID: s.key, SecretAccessKey: s.secret, SessionToken: s.token, Expiration: s.expires.UTC().Format(time.RFC3339),
	}
}
