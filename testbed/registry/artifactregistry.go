// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/runner-identity/runner-identity/testbed/gcp"
)

// ArtifactRegistry is the registries of a simulated Google Cloud: europe-west1-docker.pkg.dev and the like. A client trades its
// login at /v2/token for a token, which it sends with each request; the login itself is taken too.
func ArtifactRegistry(s *gcp.Server) *Registry { return newRegistry(artifactRegistry{s}) }

type artifactRegistry struct{ *gcp.Server }

var _ cloud = artifactRegistry{}

// tokenUser is a user name that goes with an access token, which is what the registry's own tokens are here.
const tokenUser = "oauth2accesstoken"

func (g artifactRegistry) admit(r *http.Request, a access) (string, *refusal) {
	user, password, ok := r.BasicAuth()
	if !ok {
		user = tokenUser
		password, ok = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	denied := &refusal{http.StatusUnauthorized, "UNAUTHORIZED", "authentication failed", challenge(r.Host, a)}
	if !ok {
		return "", denied
	}
	who, err := g.Verify(user, password, gcp.Scope{Host: a.host, Path: a.path, Push: a.push})
	switch {
	case err == nil:
		return who, nil
	case errors.Is(err, gcp.ErrUnknownToken), errors.Is(err, gcp.ErrExpiredToken):
		return who, denied
	case errors.Is(err, gcp.ErrForeignRepository):
		return who, &refusal{http.StatusForbidden, "DENIED", fmt.Sprintf("Permission %q denied on resource of image %q (or it may not exist)", permission(a), a.path), ""}
	}
	return who, &refusal{http.StatusNotFound, "NAME_UNKNOWN", err.Error(), ""}
}

// challenge tells a client where to get a token, and for what.
func challenge(host string, a access) string {
	actions := "pull"
	if a.push {
		actions = "push,pull"
	}
	return fmt.Sprintf(`Bearer realm="https://%s/v2/token",service=%q,scope="repository:%s:%s"`, host, host, a.path, actions)
}

func permission(a access) string {
	if a.push {
		return "artifactregistry.repositories.uploadArtifacts"
	}
	return "artifactregistry.repositories.downloadArtifacts"
}
