// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"cmp"
	"time"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

const (
	// defaultAudience is what EKS and its webhook use in all partitions.
	defaultAudience = "sts.amazonaws.com"

	defaultLifetime = 24 * time.Hour
	minLifetime     = identity.MinTokenLifetime
	maxLifetime     = 24 * time.Hour

	// exchangeLifetime is that of the token that is traded for registry logins: it is used at once, so it is short.
	exchangeLifetime = time.Hour
)

// settings is a request as this provider understands it: defaults filled in, texts parsed.
type settings struct {
	v1alpha1.AWSDefaults

	// roles are roleARN and the chain after it. Empty with mode PodIdentity.
	roles []role
	// lifetime is that of the tokens in pods.
	lifetime time.Duration
	// hosts are the registries to log in to.
	hosts []registry
}

// principal is the role that pods end up with.
func (s settings) principal() (role, bool) {
	if len(s.roles) == 0 {
		return role{}, false
	}
	return s.roles[len(s.roles)-1], true
}

func (s settings) webIdentity() bool { return s.Mode == v1alpha1.AWSWebIdentity }

func (s settings) chained() bool { return len(s.roles) > 1 }

// parse reads a request. The settings are complete only if there are no problems.
func parse(r identity.Request) (settings, []identity.Problem) {
	var s settings
	if err := r.Settings.Decode(&s.AWSDefaults); err != nil {
		return s, []identity.Problem{{Field: "aws", Message: err.Error()}}
	}
	s.Mode = cmp.Or(s.Mode, v1alpha1.AWSWebIdentity)
	s.Binding = cmp.Or(s.Binding, v1alpha1.AWSInject)
	s.Audience = cmp.Or(s.Audience, defaultAudience)
	s.SessionName = cmp.Or(s.SessionName, sessionName(r.Namespace+"-"+r.Name))
	s.Region = cmp.Or(s.Region, firstRegion(r.Registries), firstRegion(r.ImageHosts))
	s.lifetime = defaultLifetime
	if s.TokenLifetime != nil {
		s.lifetime = s.TokenLifetime.Duration
	}
	problems := s.validate()
	if s.webIdentity() {
		problems = append(problems, s.parseRoles()...)
	}
	problems = append(problems, s.validateRegion()...)
	return s, append(problems, s.parseHosts(r)...)
}

// firstRegion is the region of the first private registry among hosts.
func firstRegion(hosts []string) string {
	for _, h := range hosts {
		if r, ok := parseRegistry(h); ok && !r.public {
			return r.region
		}
	}
	return ""
}

// parseHosts settles which registries to log in to: those asked for; else those that images come from, and the
// principal's own.
func (s *settings) parseHosts(r identity.Request) []identity.Problem {
	if !s.webIdentity() {
		return podIdentityHosts(r.Registries)
	}
	var problems []identity.Problem
	for _, h := range r.Registries {
		reg, ok := parseBareRegistry(h)
		if !ok {
			problems = append(problems, identity.Problem{Field: "registries", Message: notARegistry(h)})
			continue
		}
		problems = append(problems, s.validateHost(reg)...)
		s.addHost(reg)
	}
	if len(r.Registries) > 0 {
		return problems
	}
	for _, h := range r.ImageHosts {
		// An image host of another partition is not ours to log in to; the user did not ask for it.
		if reg, ok := parseBareRegistry(h); ok && len(s.validateHost(reg)) == 0 {
			s.addHost(reg)
		}
	}
	if p, ok := s.principal(); ok && s.Region != "" {
		s.addHost(p.ownRegistry(s.Region))
	}
	return nil
}

func (s *settings) addHost(r registry) {
	for _, h := range s.hosts {
		if h.host == r.host {
			return
		}
	}
	s.hosts = append(s.hosts, r)
}
