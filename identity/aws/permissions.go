// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"slices"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

const (
	permitPrivateLogin = "ecr:GetAuthorizationToken"
	permitPublicLogin  = "ecr-public:GetAuthorizationToken"
	permitBearer       = "sts:GetServiceBearerToken" //nolint:gosec // the name of an action
)

// pullActions are what a pull does after the login.
func pullActions() oneOrMore {
	return oneOrMore{"ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"}
}

// registryPermissions are the principal's permission to log in and pull, and what other accounts have to allow.
func (s settings) registryPermissions() []identity.Document {
	var statements []policyStatement
	if repositories := s.repositories(); len(repositories) > 0 {
		statements = append(statements,
			policyStatement{Sid: "Login", Effect: "Allow", Action: one(permitPrivateLogin), Resource: one("*")},
			policyStatement{Sid: "Pull", Effect: "Allow", Action: pullActions(), Resource: repositories},
		)
	}
	if slices.ContainsFunc(s.hosts, func(r registry) bool { return r.public }) {
		statements = append(statements, policyStatement{
			Sid: "LoginToPublic", Effect: "Allow", Action: oneOrMore{permitPublicLogin, permitBearer}, Resource: one("*"),
		})
	}
	if len(statements) == 0 {
		return nil
	}
	principal, _ := s.principal()
	title := fmt.Sprintf("Permission policy of %s: registry login and pull (narrow the repositories down as you like)", principal.arn)
	return append([]identity.Document{{Title: title, Body: document(statements...)}}, s.foreignRepositories(principal)...)
}

// repositories are the ARNs of all repositories of the private registries.
func (s settings) repositories() oneOrMore {
	var arns oneOrMore
	for _, h := range s.hosts {
		if p, ok := partitionOf(h.region); ok && !h.public {
			arns = append(arns, fmt.Sprintf("arn:%s:ecr:%s:%s:repository/*", p.name, h.region, h.account))
		}
	}
	slices.Sort(arns)
	return slices.Compact(arns)
}

// foreignRepositories is the policy that repositories of other accounts need: there the principal's own does not suffice.
func (s settings) foreignRepositories(principal role) []identity.Document {
	var accounts []string
	for _, h := range s.hosts {
		if !h.public && h.account != principal.account {
			accounts = append(accounts, h.account)
		}
	}
	slices.Sort(accounts)
	accounts = slices.Compact(accounts)
	if len(accounts) == 0 {
		return nil
	}
	return []identity.Document{{
		Title: "Repository policy of each repository to pull from in account " + strings.Join(accounts, ", "),
		Body: document(policyStatement{
			Sid: "PullFromOtherAccount", Effect: "Allow", Principal: map[string]string{"AWS": principal.arn}, Action: pullActions(),
		}),
	}}
}
