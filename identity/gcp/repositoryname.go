// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"regexp"
	"strings"
)

const exampleRepository = exampleHost + "/acme-ci/images"

var (
	projectID    = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?:)?[a-z]([a-z0-9-]*[a-z0-9])?$`)
	repositoryID = regexp.MustCompile(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)
)

// A repository is one of Artifact Registry's.
type repository struct {
	registry
	project, id string
	// path is as the user writes it.
	path string
}

// name is what Artifact Registry calls the repository.
func (r repository) name() string {
	return fmt.Sprintf("projects/%s/locations/%s/repositories/%s", r.project, r.location, r.id)
}

// parseRepository parses HOST/PROJECT/REPOSITORY, or HOST/PROJECT for a host of Container Registry. The error quotes it and shows
// a right one.
func parseRepository(path string) (repository, error) {
	host, rest, _ := strings.Cut(path, "/")
	reg, ok := parseRegistry(host)
	if !ok {
		return repository{}, fmt.Errorf("%q: %s", path, notARegistry(host))
	}
	parts := strings.Split(rest, "/")
	// A domain-scoped project takes two segments: example.com/proj.
	if len(parts) > 1 && strings.Contains(parts[0], ".") {
		parts = append([]string{parts[0] + ":" + parts[1]}, parts[2:]...)
	}
	if reg.repository != "" {
		parts = append(parts, reg.repository)
	}
	if len(parts) != 2 || !projectID.MatchString(parts[0]) || reg.repository == "" && !repositoryID.MatchString(parts[1]) {
		return repository{}, fmt.Errorf("%q is not a repository, such as %s or gcr.io/acme-ci: no image, no tag", path, exampleRepository)
	}
	return repository{registry: reg, project: parts[0], id: parts[1], path: path}, nil
}
