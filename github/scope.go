// SPDX-License-Identifier: Apache-2.0

package github

import (
	"fmt"
	"net/url"
	"strings"
)

// Scope is where runners are registered. One field is set; Repository is OWNER/NAME.
type Scope struct {
	Enterprise, Organization, Repository string
}

// String is "organization acme", "repository acme/website" or "enterprise acme".
func (s Scope) String() string {
	switch {
	case s.Enterprise != "":
		return "enterprise " + s.Enterprise
	case s.Organization != "":
		return "organization " + s.Organization
	}
	return "repository " + s.Repository
}

func (s Scope) exactlyOne() bool {
	set := 0
	for _, v := range []string{s.Enterprise, s.Organization, s.Repository} {
		if v != "" {
			set++
		}
	}
	return set == 1
}

// path is the scope's path below the API's base, without slashes at its ends.
func (s Scope) path() (string, error) {
	if !s.exactlyOne() {
		return "", fmt.Errorf("enterprise %q, organization %q, repository %q: set exactly one", s.Enterprise, s.Organization, s.Repository)
	}
	owner, name, isRepository := strings.Cut(s.Repository, "/")
	switch {
	case s.Enterprise != "" && !segment(s.Enterprise):
		return "", fmt.Errorf("enterprise %q is not the slug of an enterprise, such as acme", s.Enterprise)
	case s.Enterprise != "":
		return "enterprises/" + s.Enterprise, nil
	case s.Organization != "" && !segment(s.Organization):
		return "", fmt.Errorf("organization %q is not the name of an organisation, such as acme", s.Organization)
	case s.Organization != "":
		return "orgs/" + s.Organization, nil
	case !isRepository || !segment(owner) || !segment(name):
		return "", fmt.Errorf("repository %q is not OWNER/NAME, such as acme/website", s.Repository)
	}
	return "repos/" + owner + "/" + name, nil
}

// segment reports whether s is one segment of a path as it stands, so that no name can reach another path of the API.
func segment(s string) bool {
	return s != "" && s != "." && s != ".." && url.PathEscape(s) == s
}
