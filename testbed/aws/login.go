// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"time"
)

// What can be wrong with a login.
var (
	// ErrUnknownLogin: the password was never issued, or for another kind of registry.
	ErrUnknownLogin = errors.New("login was not issued for a registry of this kind")
	// ErrExpiredLogin: the login's time has come.
	ErrExpiredLogin = errors.New("login has expired")
	// ErrForeignRegistry: the login is good, the registry does not let it in.
	ErrForeignRegistry = errors.New("login is not good for this registry")
)

// A loginKey is the digest of a password: passwords are not kept.
type loginKey [sha256.Size]byte

type login struct {
	caller  session
	region  string
	public  bool
	expires time.Time
}

// issue makes a login of the shape of ECR's: a JSON document, base64, of about 2 kB.
func (s *Server) issue(c *call, made login) authorizationData {
	made.expires = c.now.Add(s.current().Login)
	document, _ := json.Marshal(map[string]any{ // Strings and a number cannot fail.
		"payload": random(1200), "datakey": random(180), "version": "2", "type": "DATA_KEY", "expiration": made.expires.Unix(),
	})
	password := base64.StdEncoding.EncodeToString(document)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logins[sha256.Sum256([]byte(password))] = made
	return authorizationData{
		AuthorizationToken: base64.StdEncoding.EncodeToString([]byte("AWS:" + password)),
		ExpiresAt:          epoch(made.expires),
	}
}

// Verify checks a login for a registry host as the registry would. It returns the account that logged in and the region
// that the login is for. The errors are ErrUnknownLogin, ErrExpiredLogin and ErrForeignRegistry, or name a host that is
// none of ECR's.
func (s *Server) Verify(user, password, host string) (account, region string, err error) {
	registry, err := parseHost(host)
	if err != nil {
		return "", "", err
	}
	s.mu.Lock()
	found, ok := s.logins[sha256.Sum256([]byte(password))]
	s.mu.Unlock()
	switch {
	case !ok || user != "AWS" || found.public != registry.public:
		return "", "", ErrUnknownLogin
	case !s.clock.Now().Before(found.expires):
		return "", "", ErrExpiredLogin
	case !registry.public && !s.admits(registry, found):
		return "", "", ErrForeignRegistry
	}
	return found.caller.role.account, found.region, nil
}

// admits: a login is for one region, and for registries of other accounts only if they let the role in.
func (s *Server) admits(r registryName, l login) bool {
	others := s.config.Roles[l.caller.roleARN].Registries
	return r.region == l.region && (r.account == l.caller.role.account || slices.Contains(others, r.account))
}

// A registryName is what a registry's host says.
type registryName struct {
	account, region string
	public          bool
}

func parseHost(host string) (registryName, error) {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	if host == "public.ecr.aws" || host == "ecr-public.aws.com" {
		return registryName{public: true}, nil
	}
	m := regexp.MustCompile(`^(\d{12})\.dkr([.-])ecr(-fips)?\.([a-z0-9-]+)\.([a-z0-9.-]+)$`).FindStringSubmatch(host)
	if m != nil {
		if p, ok := partitionOf(m[4]); ok && (m[5] == p.suffix || m[5] == p.dual) {
			return registryName{account: m[1], region: m[4]}, nil
		}
	}
	return registryName{}, fmt.Errorf("host %q: not a registry of ECR, such as 111122223333.dkr.ecr.eu-west-1.amazonaws.com", host)
}
