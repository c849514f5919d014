// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"

	"github.com/runner-identity/runner-identity/identity"
)

// principal is the cloud identity of a ServiceAccount.
func (s settings) principal(namespace, name string) string {
	if s.account.email != "" {
		return s.account.email
	}
	return s.member(namespace, name)
}

// member is how IAM policies write a ServiceAccount. Without the project's number there is only the older form for it, which
// names the same principal.
func (s settings) member(namespace, name string) string {
	w := s.provider
	if w.kind != ofPool && s.ProjectNumber == "" {
		return fmt.Sprintf("serviceAccount:%s[%s/%s]", w.pool, namespace, name)
	}
	return fmt.Sprintf("principal://%s/subject/%s", s.poolName(s.poolProject()), w.subject(namespace, name))
}

// poolProject is the number of the project that the pool is in, "" if it is not known.
func (s settings) poolProject() string {
	if s.provider.kind == ofPool {
		return s.provider.project
	}
	return s.ProjectNumber
}

// poolName is the full name of the pool in a project.
func (s settings) poolName(number string) string {
	return fmt.Sprintf("iam.googleapis.com/projects/%s/locations/global/workloadIdentityPools/%s", number, s.provider.pool)
}

// principals fills in who a plan makes of a request. Each account that has the identity directly is a principal of its own:
// all of them have to pass the admin's guard rails.
func (s settings) principals(p *identity.Plan, r identity.Request) {
	p.Principal = s.principal(r.Namespace, r.Exchange())
	for _, name := range r.Bound() {
		if other := s.principal(r.Namespace, name); other != p.Principal {
			p.Via = append(p.Via, other)
		}
	}
}
