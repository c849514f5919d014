// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// getRepository answers for a repository that the caller may see.
func (s *Server) getRepository(c *call) (any, error) {
	caller, err := s.bearer(c)
	if err != nil {
		return nil, err
	}
	name := repositoryOf(c, c.http.PathValue("repository"))
	repo, ok := s.config.Repositories[name]
	if !ok || !repo.allows(caller.members, permissionGet) {
		return nil, denied(permissionGet, "Permission '%s' denied on resource '//artifactregistry.googleapis.com/%s' (or it may not exist).", permissionGet, name)
	}
	return map[string]string{"name": name, "format": cmp.Or(repo.Format, "DOCKER"), "mode": "STANDARD_REPOSITORY"}, nil
}

// testIamPermissions answers with those of the permissions that the caller has. For a repository that does not exist these are
// none, as IAM does it everywhere.
func (s *Server) testIamPermissions(c *call) (any, error) {
	id, ok := strings.CutSuffix(c.http.PathValue("repository"), ":testIamPermissions")
	if !ok {
		return nil, refuse(http.StatusNotFound, "NOT_FOUND", "Requested entity was not found.")
	}
	caller, err := s.bearer(c)
	if err != nil {
		return nil, err
	}
	var body struct {
		Permissions []string `json:"permissions"`
	}
	if err := json.Unmarshal(c.body, &body); err != nil {
		return nil, refuse(http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid JSON payload received.")
	}
	repo := s.config.Repositories[repositoryOf(c, id)]
	granted := map[string][]string{}
	for _, p := range body.Permissions {
		if repo.allows(caller.members, p) {
			granted["permissions"] = append(granted["permissions"], p)
		}
	}
	return granted, nil
}

func repositoryOf(c *call, id string) string {
	return fmt.Sprintf("projects/%s/locations/%s/repositories/%s", c.http.PathValue("project"), c.http.PathValue("location"), id)
}
