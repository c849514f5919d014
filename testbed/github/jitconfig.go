// SPDX-License-Identifier: Apache-2.0

package github

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
)

// jitConfig is a JIT configuration in GitHub's form: base64 of a JSON object that has, by file name, the base64 of the files
// that the runner program writes beside itself. The key in it is a random word: the simulator knows it again.
func jitConfig(r *Runner, workFolder, url string) string {
	files := map[string]any{
		".runner": map[string]string{
			"AgentId": strconv.FormatInt(r.ID, 10), "AgentName": r.Name, "PoolId": strconv.FormatInt(r.GroupID, 10),
			"PoolName": "Default", "DisableUpdate": "True", "Ephemeral": "True", "ServerUrl": url + "/",
			"GitHubUrl": "https://github.com/" + r.Scope, "WorkFolder": workFolder,
		},
		".credentials": map[string]any{
			"Scheme": "OAuth",
			"Data":   map[string]string{"ClientId": rand.Text(), "AuthorizationUrl": url + "/_apis/oauth2/token"},
		},
		".credentials_rsaparams": map[string]string{"d": rand.Text()},
	}
	encoded := map[string]string{}
	for name, content := range files {
		encoded[name] = encode(content)
	}
	return encode(encoded)
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "" // maps of strings always marshal
	}
	return base64.StdEncoding.EncodeToString(b)
}

// Connect trades a JIT configuration for a session, once, as the runner program does when it starts. The runner is online
// from then on. The status is 409 if the configuration was traded before, 404 if its runner is gone.
func (s *Simulator) Connect(config string) (session string, runner Runner, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.named(func(r *Runner) bool { return config != "" && r.config == config })
	switch {
	case r == nil:
		return "", Runner{}, http.StatusNotFound
	case r.taken:
		return "", Runner{}, http.StatusConflict
	}
	session = rand.Text()
	s.sessions[session] = r.ID
	r.taken, r.Status, r.OS = true, Online, "linux"
	return session, *r, http.StatusOK
}

// Disconnect ends a session. A runner that was never busy stays registered, offline; one that is busy has done its job and goes.
func (s *Simulator) Disconnect(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runners[s.sessions[session]]
	if r == nil {
		return false
	}
	delete(s.sessions, session)
	if r.Busy {
		s.drop(r.ID)
		return true
	}
	r.Status = Offline
	return true
}

// Leave ends the session of an idle runner, which then is offline, or gone if remove is set. The status is 409 if the runner has a
// job, also one that is still on its way to it, and 404 if there is no such session.
func (s *Simulator) Leave(session string, remove bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runners[s.sessions[session]]
	switch {
	case r == nil:
		return http.StatusNotFound
	case r.Busy:
		return http.StatusConflict
	}
	delete(s.sessions, session)
	r.Status = Offline
	if remove {
		s.drop(r.ID)
	}
	s.wake()
	return http.StatusNoContent
}
