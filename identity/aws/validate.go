// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.Validator = (*Provider)(nil)

// Validate lists what is wrong with a request.
func (*Provider) Validate(r identity.Request) []identity.Problem {
	_, problems := parse(r)
	return problems
}

// validate checks the fields that stand for themselves, and those that exclude each other.
func (s settings) validate() []identity.Problem {
	return slices.Concat(s.validateModes(), s.validateToken(), s.validateEndpoints())
}

func (s settings) validateModes() []identity.Problem {
	var problems []identity.Problem
	pod := s.Mode == v1alpha1.AWSPodIdentity
	annotate := s.Binding == v1alpha1.AWSAnnotate
	if !pod && !s.webIdentity() {
		problems = append(problems, problem("mode", "%q is neither WebIdentity nor PodIdentity", s.Mode))
	}
	if !annotate && s.Binding != v1alpha1.AWSInject {
		problems = append(problems, problem("binding", "%q is neither Inject nor Annotate", s.Binding))
	}
	if pod && annotate {
		problems = append(problems, problem("binding", "Annotate works with mode WebIdentity only; with mode PodIdentity the role comes from the cluster's PodIdentityAssociation"))
	}
	if pod && len(s.Chain) > 0 {
		problems = append(problems, problem("chain", "works with mode WebIdentity only; with mode PodIdentity set targetRoleArn on the PodIdentityAssociation"))
	}
	if annotate && len(s.Chain) > 0 {
		problems = append(problems, problem("chain", "works with binding Inject only; the EKS webhook knows one role"))
	}
	return problems
}

func (s settings) validateToken() []identity.Problem {
	var problems []identity.Problem
	if s.lifetime < minLifetime || s.lifetime > maxLifetime {
		problems = append(problems, problem("tokenLifetime", "%s is not between 10m and 24h", s.lifetime))
	}
	if !isSessionName(s.SessionName) {
		problems = append(problems, problem("sessionName", "%q is not a session name: 2 to 64 of A-Z a-z 0-9 _ + = , . @ -", s.SessionName))
	}
	if !audiencePattern.MatchString(s.Audience) {
		problems = append(problems, problem("audience", "%q is not an audience: up to 255 of A-Z a-z 0-9 . _ ~ : / @ + = , %% -; the usual one is %s", s.Audience, defaultAudience))
	}
	return problems
}

// audiencePattern has the characters of host names and URIs, and none that a shell or a config file understands: audiences
// stand in the commands that Trust prints.
var audiencePattern = regexp.MustCompile(`^[A-Za-z0-9._~:/@+=,%-]{1,255}$`)

func (s settings) validateEndpoints() []identity.Problem {
	var problems []identity.Problem
	for _, e := range []struct{ field, value string }{
		{"endpoints.sts", s.Endpoints.STS}, {"endpoints.ecr", s.Endpoints.ECR}, {"endpoints.ecrPublic", s.Endpoints.ECRPublic},
	} {
		if e.value != "" && !isEndpoint(e.value) {
			problems = append(problems, problem(e.field, "is not the URL of a service without user name and query, such as https://vpce-0123.sts.eu-west-1.vpce.amazonaws.com"))
		}
	}
	return problems
}

// isEndpoint reports whether s is a URL to send requests to. One with a user name or a query could hold a secret.
func isEndpoint(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" &&
		u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// parseRoles parses roleARN and chain and checks them against each other.
func (s *settings) parseRoles() []identity.Problem {
	if s.RoleARN == "" {
		return []identity.Problem{problem("roleARN", "is not set; set it to the ARN of an IAM role, such as %s", exampleRole)}
	}
	var problems []identity.Problem
	for i, arn := range append([]string{s.RoleARN}, s.Chain...) {
		field := "roleARN"
		if i > 0 {
			field = fmt.Sprintf("chain[%d]", i-1)
		}
		r, err := parseRole(arn)
		switch {
		case err != nil:
			problems = append(problems, problem(field, "%v", err))
			continue
		case slices.ContainsFunc(s.roles, func(other role) bool { return other.arn == arn }):
			problems = append(problems, problem(field, "%q is in the chain already: a role does not assume itself", arn))
		case len(s.roles) > 0 && s.roles[0].partition.name != r.partition.name:
			problems = append(problems, problem(field, "%q is in partition %s, the role before it in %s: no session crosses partitions", arn, r.partition.name, s.roles[0].partition.name))
		}
		s.roles = append(s.roles, r)
	}
	return problems
}

// validateRegion checks the region, and that it is in the roles' partition.
func (s settings) validateRegion() []identity.Problem {
	if s.Region == "" {
		if !s.webIdentity() {
			return nil
		}
		return []identity.Problem{problem("region", "is not set, and no registry host tells it; set it to an AWS region, such as eu-west-1")}
	}
	p, ok := partitionOf(s.Region)
	if !ok {
		return []identity.Problem{problem("region", "%q is not an AWS region, such as %s", s.Region, regionExamples())}
	}
	if len(s.roles) > 0 && s.roles[0].partition.name != p.name {
		role := s.roles[0].partition
		return []identity.Problem{problem("region", "%q is in partition %s, but the role's ARN is of partition %s, whose regions are like %s",
			s.Region, p.name, role.name, role.example)}
	}
	return nil
}

// validateHost checks that a registry can be logged in to with the role.
func (s settings) validateHost(r registry) []identity.Problem {
	p, ok := s.principal()
	if !ok {
		return nil
	}
	of, known := partitionOf(r.region)
	switch {
	case r.public && p.partition.name != "aws":
		return []identity.Problem{{Field: "registries", Message: fmt.Sprintf("%q takes roles of partition aws only, and the role is of %s", r.host, p.partition.name)}}
	case r.public:
		return nil
	case !known:
		return []identity.Problem{{Field: "registries", Message: fmt.Sprintf("%q: %q is not an AWS region, such as %s", r.host, r.region, p.partition.example)}}
	case of.name != p.partition.name:
		return []identity.Problem{{Field: "registries", Message: fmt.Sprintf("%q is in partition %s, and the role is of %s: no login crosses partitions", r.host, of.name, p.partition.name)}}
	case !slices.Contains(of.registrySuffixes, r.suffix):
		return []identity.Problem{{Field: "registries", Message: fmt.Sprintf("%q: registries in %s end in %s", r.host, r.region, of.registrySuffixes[0])}}
	}
	return nil
}

// podIdentityHosts refuses registries with mode PodIdentity.
func podIdentityHosts(asked []string) []identity.Problem {
	if len(asked) == 0 {
		return nil
	}
	return []identity.Problem{{Field: "registries", Message: fmt.Sprintf("%q cannot be logged in to with mode PodIdentity: EKS takes only tokens that are bound to a running pod, "+
		"so nobody can log in before the pod runs; use mode WebIdentity, or leave registries empty and let the nodes pull", asked[0])}}
}

func notARegistry(host string) string {
	if r, ok := parseRegistry(host); ok {
		return fmt.Sprintf("%q is not a bare host; write %q", host, r.host)
	}
	return fmt.Sprintf("%q is not a registry of AWS, such as 111122223333.dkr.ecr.eu-west-1.amazonaws.com or %s", host, publicHost)
}
