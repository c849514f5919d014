// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"time"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

const (
	defaultUniverse = "googleapis.com"

	// defaultLifetime is Google's most for a subject token. The kubelet renews it at 80 %, so that what is left of it never cuts
	// the hour of an access token short.
	defaultLifetime = 24 * time.Hour
	minLifetime     = identity.MinTokenLifetime
	maxLifetime     = 24 * time.Hour

	// exchangeLifetime is that of the token that is traded for registry logins. A federated token lives no longer than what is
	// left of it, so it is longer than the hour that Google gives at most.
	exchangeLifetime = 2 * time.Hour

	minAccessLifetime = 10 * time.Minute
	maxAccessLifetime = 12 * time.Hour
)

// settings is a request as this provider understands it: defaults filled in, texts parsed.
type settings struct {
	v1alpha1.GCPDefaults

	// account is serviceAccount, zero if the ServiceAccount's own principal is used.
	account account
	// provider is who vouches for the cluster's tokens. It is nobody only with mode Metadata, where pods need none.
	provider workloadProvider
	// lifetime is that of the tokens in pods, accessLifetime that of access tokens if it is not zero.
	lifetime, accessLifetime time.Duration
	// repositories are those to check, hosts the registries to log in to.
	repositories []repository
	hosts        []registry
}

func (s settings) federated() bool { return s.Mode == v1alpha1.GCPFederation }

func (s settings) direct() bool { return s.account.email == "" }

// parse reads a request. The settings are complete only if there are no problems.
func parse(r identity.Request) (settings, []identity.Problem) {
	var s settings
	if err := r.Settings.Decode(&s.GCPDefaults); err != nil {
		return s, []identity.Problem{{Field: "gcp", Message: err.Error()}}
	}
	s.UniverseDomain = cmp.Or(s.UniverseDomain, defaultUniverse)
	s.NodeSelector = cmp.Or(s.NodeSelector, v1alpha1.GCPNodeSelectorNever)
	s.lifetime = defaultLifetime
	if s.TokenLifetime != nil {
		s.lifetime = s.TokenLifetime.Duration
	}
	if s.AccessTokenLifetime != nil {
		s.accessLifetime = s.AccessTokenLifetime.Duration
	}
	problems := s.parseAccount()
	problems = append(problems, s.parseProvider(r.Issuer)...)
	s.ProjectID = cmp.Or(s.ProjectID, s.account.project)
	problems = append(problems, s.validate()...)
	problems = append(problems, s.validateSubjects(r)...)
	problems = append(problems, s.parseRepositories()...)
	return s, append(problems, s.parseHosts(r)...)
}

func (s *settings) parseAccount() []identity.Problem {
	if s.ServiceAccount == "" {
		return nil
	}
	var err error
	if s.account, err = parseAccount(s.ServiceAccount); err != nil {
		return []identity.Problem{problem("serviceAccount", "%v", err)}
	}
	return nil
}

// parseProvider settles who vouches for the cluster's tokens, and with that mode and audience. A GKE cluster does it for itself
// under the very name that is its issuer.
func (s *settings) parseProvider(issuer string) []identity.Problem {
	name := s.WorkloadIdentityProvider
	if name == "" && s.Mode != v1alpha1.GCPFederation && clusterProvider.MatchString(issuer) {
		name = issuer
	}
	if name != "" {
		var err error
		if s.provider, err = parseWorkloadProvider(name); err != nil {
			return []identity.Problem{problem("workloadIdentityProvider", "%v", err)}
		}
	}
	if s.Mode == "" {
		s.Mode = s.defaultMode()
		if s.provider.kind == noProvider && issuer != "" {
			return []identity.Problem{problem("workloadIdentityProvider", "is not set, and the issuer %q is not a GKE cluster's; set it to %s", issuer, exampleProvider)}
		}
	}
	if s.provider.kind == noProvider {
		return s.missingProvider()
	}
	if s.provider.kind != ofPool {
		s.provider.pool = cmp.Or(s.WorkloadPool, s.provider.pool)
	}
	s.Audience = cmp.Or(s.Audience, s.provider.tokenAudience())
	return nil
}

func (s settings) defaultMode() v1alpha1.GCPMode {
	if s.provider.kind == ofPool || s.provider.kind == ofFleet {
		return v1alpha1.GCPFederation
	}
	return v1alpha1.GCPMetadata
}

// missingProvider refuses to do without a provider where its name is needed.
func (s settings) missingProvider() []identity.Problem {
	switch {
	case s.federated():
		return []identity.Problem{problem("workloadIdentityProvider", "is not set; set it to %s", exampleProvider)}
	case s.ServiceAccount == "":
		return []identity.Problem{problem("workloadIdentityProvider", "is not set, and the cluster's issuer is not known, so the ServiceAccount's own principal has no name; set it to the GKE cluster, such as %s, or set serviceAccount", exampleCluster)}
	}
	return nil
}

// parseRepositories parses repositories.
func (s *settings) parseRepositories() []identity.Problem {
	var problems []identity.Problem
	for _, path := range s.Repositories {
		repo, err := parseRepository(path)
		if err != nil {
			problems = append(problems, problem("repositories", "%v", err))
			continue
		}
		s.repositories = append(s.repositories, repo)
	}
	return problems
}

// parseHosts settles which registries to log in to: those asked for; else those that images come from, those of the
// repositories, and that of the region.
func (s *settings) parseHosts(r identity.Request) []identity.Problem {
	var problems []identity.Problem
	for _, h := range r.Registries {
		reg, ok := parseRegistry(h)
		if !ok {
			problems = append(problems, identity.Problem{Field: "registries", Message: notARegistry(h)})
			continue
		}
		s.addHost(reg)
	}
	if s.provider.kind == noProvider {
		return append(problems, s.noLogin(r.Registries)...)
	}
	if len(r.Registries) > 0 {
		return problems
	}
	for _, h := range r.ImageHosts {
		// An image host of another cloud is not ours to log in to; the user did not ask for it.
		if reg, ok := parseRegistry(h); ok {
			s.addHost(reg)
		}
	}
	for _, repo := range s.repositories {
		s.addHost(repo.registry)
	}
	if reg, ok := parseRegistry(s.Region + "-docker.pkg.dev"); ok {
		s.addHost(reg)
	}
	return problems
}

// noLogin refuses logins without a provider: images are then pulled by the nodes.
func (s *settings) noLogin(asked []string) []identity.Problem {
	s.hosts = nil
	switch {
	case len(asked) > 0:
		return []identity.Problem{{Field: "registries", Message: "\"" + asked[0] + "\" cannot be logged in to, since the GKE cluster's name is not known; set gcp.workloadIdentityProvider to it, such as " + exampleCluster}}
	case len(s.repositories) > 0:
		return []identity.Problem{problem("repositories", "cannot be checked, since the GKE cluster's name is not known; set workloadIdentityProvider to it, such as %s", exampleCluster)}
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
