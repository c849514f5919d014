// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"crypto/rand"
	"encoding/base64"
	"time"
)

// A session is a role's, as STS issued it.
type session struct {
	key, secret, token string
	role               roleARN
	roleARN            string
	name               string
	expires            time.Time
}

func (s session) arn() string { return s.role.session(s.name) }

// id is what IAM calls the unique id of an assumed role.
func (s session) id() string { return "AROA" + idOf(s.roleARN) + ":" + s.name }

func (s *Server) session(key string) (session, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.sessions[key]
	return found, ok
}

// open issues a session. The lifetime asked for has been checked already.
func (s *Server) open(c *call, arn string, role roleARN, lifetime time.Duration) session {
	if most := s.current().Session; most != 0 {
		lifetime = min(lifetime, most)
	}
	made := session{
		key:    "ASIA" + rand.Text()[:16],
		secret: random(30),
		token:  random(600),
		role:   role, roleARN: arn, name: c.form.Get("RoleSessionName"),
		// AWS gives whole seconds.
		expires: c.now.Add(lifetime).Truncate(time.Second),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[made.key] = made
	return made
}

func random(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // It never fails.
	return base64.StdEncoding.EncodeToString(b)
}
