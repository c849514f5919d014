// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.Validator = (*Provider)(nil)

// maxSubject is the longest google.subject that STS takes.
const maxSubject = 127

var (
	workloadPool = regexp.MustCompile(`^([a-z0-9]([a-z0-9.:-]*[a-z0-9])?\.svc\.id\.goog|[a-z0-9]([a-z0-9-]*[a-z0-9])?\.global\.[0-9]+\.workload\.id\.goog)$`)
	domainName   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)
	hostPort     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?$`)
)

// Validate lists what is wrong with a request.
func (*Provider) Validate(r identity.Request) []identity.Problem {
	_, problems := parse(r)
	return problems
}

// problem is one about a field of the gcp settings.
func problem(field, format string, a ...any) identity.Problem {
	return identity.Problem{Field: "gcp." + field, Message: fmt.Sprintf(format, a...)}
}

// validate checks the fields that stand for themselves, and those that exclude each other.
func (s settings) validate() []identity.Problem {
	return slices.Concat(s.validateMode(), s.validateMetadataOnly(), s.validateNames(), s.validateProject(), s.validateToken(), s.validateEndpoints())
}

func (s settings) validateMode() []identity.Problem {
	var problems []identity.Problem
	if s.Mode != v1alpha1.GCPMetadata && !s.federated() {
		problems = append(problems, problem("mode", "%q is neither Metadata nor Federation", s.Mode))
	}
	if s.Mode == v1alpha1.GCPMetadata && s.provider.kind == ofPool {
		problems = append(problems, problem("mode", "Metadata works for GKE clusters and fleets, and workloadIdentityProvider %q is neither; use Federation", s.provider.name))
	}
	if s.WorkloadPool != "" && s.provider.kind == ofPool {
		problems = append(problems, problem("workloadPool", "%q is not used: workloadIdentityProvider names the pool %q; leave it out", s.WorkloadPool, s.provider.pool))
	}
	if s.NodeSelector != v1alpha1.GCPNodeSelectorNever && s.NodeSelector != v1alpha1.GCPNodeSelectorAlways {
		problems = append(problems, problem("nodeSelector", "%q is neither Never nor Always", s.NodeSelector))
	}
	return problems
}

// validateMetadataOnly refuses what GKE's metadata server alone knows.
func (s settings) validateMetadataOnly() []identity.Problem {
	var problems []identity.Problem
	if s.PrincipalIDAsEmail && !s.direct() {
		problems = append(problems, problem("principalIDAsEmail", "works without serviceAccount only; with one, pods see its e-mail"))
	}
	if !s.federated() {
		return problems
	}
	if s.NodeSelector == v1alpha1.GCPNodeSelectorAlways {
		problems = append(problems, problem("nodeSelector", "Always works with mode Metadata only; with mode Federation no metadata server is asked"))
	}
	if s.PrincipalIDAsEmail {
		problems = append(problems, problem("principalIDAsEmail", "works with mode Metadata only; leave it out"))
	}
	if s.ImagePull {
		problems = append(problems, problem("imagePull", "works with mode Metadata only; with mode Federation the registry Secret is what images are pulled with"))
	}
	return problems
}

// validateNames checks names that only have a form.
func (s settings) validateNames() []identity.Problem {
	var problems []identity.Problem
	for _, c := range []struct {
		field, value string
		form         *regexp.Regexp
		right        string
	}{
		{"workloadPool", s.WorkloadPool, workloadPool, "a workload pool, such as acme-ci.svc.id.goog"},
		{"projectID", s.ProjectID, projectID, "the id of a project, such as acme-ci; numbers and display names are not"},
		{"projectNumber", s.ProjectNumber, digits, "the number of a project, such as 123456789012"},
		{"quotaProject", s.QuotaProject, projectID, "the id of a project, such as acme-ci"},
		{"region", s.Region, regionName, "a region of Google Cloud, such as europe-west1; zones and multi-regions are not"},
		{"universeDomain", s.UniverseDomain, domainName, "a domain, such as googleapis.com"},
		{"endpoints.metadata", s.Endpoints.Metadata, hostPort, "a host, such as 169.254.169.254 or 127.0.0.1:8080"},
	} {
		if c.value != "" && !c.form.MatchString(c.value) {
			problems = append(problems, problem(c.field, "%q is not %s", c.value, c.right))
		}
	}
	return problems
}

// validateProject wants a project where no metadata server tells it: a credential file does not, and gcloud without one stops.
func (s settings) validateProject() []identity.Problem {
	if !s.federated() || s.ProjectID != "" {
		return nil
	}
	return []identity.Problem{problem("projectID", "is not set, and serviceAccount %q does not tell it; set it to the project of the jobs, such as acme-ci", s.ServiceAccount)}
}

func (s settings) validateToken() []identity.Problem {
	var problems []identity.Problem
	if s.lifetime < minLifetime || s.lifetime > maxLifetime {
		problems = append(problems, problem("tokenLifetime", "%s is not between 10m and 24h", s.lifetime))
	}
	if s.AccessTokenLifetime != nil && s.direct() {
		problems = append(problems, problem("accessTokenLifetime", "works with serviceAccount only; without one an access token lives as long as what is left of the ServiceAccount's token, 1h at most"))
	}
	if s.AccessTokenLifetime != nil && (s.accessLifetime < minAccessLifetime || s.accessLifetime > maxAccessLifetime || s.accessLifetime%time.Second != 0) {
		problems = append(problems, problem("accessTokenLifetime", "%s is not whole seconds between 10m and 12h", s.accessLifetime))
	}
	return append(problems, s.validateAudience()...)
}

func (s settings) validateAudience() []identity.Problem {
	var problems []identity.Problem
	if !isPrintable(s.Audience) {
		problems = append(problems, problem("audience", "%q has blanks or control characters; leave it out, or write what the provider's --allowed-audiences has", s.Audience))
	}
	if k := s.provider.kind; (k == ofCluster || k == ofFleet) && s.Audience != s.provider.pool {
		problems = append(problems, problem("audience", "%q is not the workload pool %q, the only one that Google takes here; leave it out", s.Audience, s.provider.pool))
	}
	return problems
}

// isPrintable reports whether s has visible ASCII characters only.
func isPrintable(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(b byte) bool { return b <= ' ' || b > '~' })
}

func (s settings) validateEndpoints() []identity.Problem {
	var problems []identity.Problem
	for _, e := range []struct{ field, value string }{
		{"endpoints.sts", s.Endpoints.STS}, {"endpoints.iamCredentials", s.Endpoints.IAMCredentials}, {"endpoints.artifactRegistry", s.Endpoints.ArtifactRegistry},
	} {
		if e.value != "" && !isEndpoint(e.value) {
			problems = append(problems, problem(e.field, "is not the URL of a service without path, user name and query, such as https://sts.p.googleapis.com"))
		}
	}
	return problems
}

// isEndpoint reports whether s is a URL to send requests to. One with a user name or a query could hold a secret.
func isEndpoint(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" &&
		(u.Path == "" || u.Path == "/") && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// validateSubjects checks that STS takes the names of the accounts.
func (s settings) validateSubjects(r identity.Request) []identity.Problem {
	if s.provider.kind == noProvider {
		return nil
	}
	var problems []identity.Problem
	for _, name := range r.Bound() {
		if sub := s.provider.subject(r.Namespace, name); len(sub) > maxSubject {
			problems = append(problems, identity.Problem{Field: "serviceAccounts", Message: fmt.Sprintf(
				"%q is %d characters long, and Google takes subjects of %d at most: use a shorter namespace or name of the ServiceAccount", sub, len(sub), maxSubject)})
		}
	}
	return problems
}
