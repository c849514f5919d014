// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// ErrForeignRepository is for a login that is good, at a repository that does not let it in.
var ErrForeignRepository = errors.New("login is not good for this repository")

// tokenUser is a user name that goes with an access token.
var tokenUser = regexp.MustCompile(`^(oauth2accesstoken|_[A-Za-z0-9_]*token)$`)

// A Scope is what is asked of a registry.
type Scope struct {
	// Host is the registry's, such as europe-west1-docker.pkg.dev.
	Host string
	// Path is the image's path, such as acme-ci/images/app. Empty: the login alone is asked about.
	Path string
	// Push is whether more than pulling is asked for.
	Push bool
}

// Verify checks a login as the registry would, and returns the principal. The errors are ErrUnknownToken, ErrExpiredToken and
// ErrForeignRepository, or name a host that is none of Google's.
func (s *Server) Verify(user, password string, scope Scope) (principal string, err error) {
	t, err := s.verify(user, password, scope, s.clock.Now())
	return t.who, err
}

func (s *Server) verify(user, password string, scope Scope, now time.Time) (token, error) {
	if _, _, err := locate(scope.Host); err != nil {
		return token{}, err
	}
	if !tokenUser.MatchString(user) {
		return token{}, ErrUnknownToken
	}
	t, err := s.lookup(password, now)
	if err != nil || scope.Path == "" {
		return t, err
	}
	name, err := scope.repository()
	if err != nil {
		return t, err
	}
	repo := s.config.Repositories[name]
	if !repo.allows(t.members, permissionDownload) || scope.Push && !repo.allows(t.members, permissionUpload) {
		return t, ErrForeignRepository
	}
	return t, nil
}

// repository is the name of the repository that a path is in.
func (s Scope) repository() (string, error) {
	location, repository, err := locate(s.Host)
	if err != nil {
		return "", err
	}
	parts := strings.Split(s.Path, "/")
	if len(parts) > 1 && strings.Contains(parts[0], ".") {
		parts = append([]string{parts[0] + ":" + parts[1]}, parts[2:]...)
	}
	if repository == "" && len(parts) > 1 {
		repository = parts[1]
	}
	if len(parts) < 2 || repository == "" {
		return "", fmt.Errorf("path %q: not PROJECT/REPOSITORY/IMAGE", s.Path)
	}
	return fmt.Sprintf("projects/%s/locations/%s/repositories/%s", parts[0], location, repository), nil
}

var dockerHost = regexp.MustCompile(`^(?:([a-z]+(?:-[a-z]+[0-9]+)?)-docker\.pkg\.dev|docker\.([a-z]+-[a-z]+[0-9]+)\.rep\.pkg\.dev)$`)

// locate is where a registry's repositories are, and the name of the only one if there is one only.
func locate(host string) (location, repository string, err error) {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	if m := dockerHost.FindStringSubmatch(host); m != nil {
		return cmp.Or(m[1], m[2]), "", nil
	}
	if location := map[string]string{"gcr.io": "us", "us.gcr.io": "us", "eu.gcr.io": "europe", "asia.gcr.io": "asia"}[host]; location != "" {
		return location, host, nil
	}
	return "", "", fmt.Errorf("host %q: not a registry of Google, such as europe-west1-docker.pkg.dev", host)
}

// registryToken is the token endpoint of whichever registry the service parameter, or the Host header, names.
func (s *Server) registryToken(c *call) (any, error) {
	query := c.http.URL.Query()
	scope := Scope{Host: cmp.Or(query.Get("service"), c.http.Host)}
	if parts := strings.Split(query.Get("scope"), ":"); len(parts) == 3 && parts[0] == "repository" {
		scope.Path, scope.Push = parts[1], strings.Contains(parts[2], "push")
	}
	user, password, ok := c.http.BasicAuth()
	if !ok {
		return nil, refuse(http.StatusUnauthorized, "UNAUTHORIZED", "authentication failed")
	}
	t, err := s.verify(user, password, scope, c.now)
	c.who = t.who
	switch {
	case errors.Is(err, ErrUnknownToken) || errors.Is(err, ErrExpiredToken):
		c.why = err.Error()
		return nil, refuse(http.StatusUnauthorized, "UNAUTHORIZED", "authentication failed")
	case errors.Is(err, ErrForeignRepository):
		return nil, foreign(scope)
	case err != nil:
		return nil, refuse(http.StatusNotFound, "NAME_UNKNOWN", "%s", err)
	}
	return map[string]any{"token": password, "expires_in": int(t.expires.Sub(c.now) / time.Second)}, nil
}

// foreign is a registry's word for a missing permission.
func foreign(scope Scope) error {
	name, err := scope.repository()
	if err != nil {
		return err
	}
	permission := permissionDownload
	if scope.Push {
		permission = permissionUpload
	}
	return refuse(http.StatusForbidden, "DENIED", "Permission %q denied on resource %q (or it may not exist)", permission, name)
}

// ping answers GET /v2/: 200 if there is a token that is good, else where to get one.
func (s *Server) ping(c *call) (any, error) {
	if _, err := s.bearer(c); err != nil {
		return nil, refuse(http.StatusUnauthorized, "UNAUTHORIZED", "authentication failed")
	}
	return struct{}{}, nil
}
