// SPDX-License-Identifier: Apache-2.0

package github

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

//go:embed control.txt
var controlHelp string

// controls are the pages below /_sim/ for a person with curl and for stand-in runners. They ask for no credentials.
func (s *Simulator) controls() {
	page := func(pattern string, h func(*http.Request) answer) {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h(r).write(w, s.options.Clock.Now()) })
	}
	page("GET /_sim/", func(*http.Request) answer { return answer{status: http.StatusOK, body: controlHelp} })
	page("GET /_sim/runners", s.pageRunners)
	page("POST /_sim/runners/{name}/{state}", s.pageSet)
	page("GET /_sim/calls", func(*http.Request) answer { return answer{status: http.StatusOK, body: s.Calls()} })
	page("GET /_sim/faults", func(*http.Request) answer { return answer{status: http.StatusOK, body: s.Faults()} })
	page("POST /_sim/faults", s.pageFault)
	page("DELETE /_sim/faults", func(*http.Request) answer { s.ClearFaults(); return answer{status: http.StatusNoContent} })
	page("POST /_sim/reset", func(*http.Request) answer { s.Reset(); return answer{status: http.StatusNoContent} })
	page("POST /_sim/revoke", func(*http.Request) answer { s.RevokeTokens(); return answer{status: http.StatusNoContent} })
	page("POST /_sim/session", s.pageConnect)
	page("DELETE /_sim/session", s.pageDisconnect)
	s.jobPages(page)
}

// shown is a runner with what the API does not show of it.
type shown struct {
	Runner
	Scope     string `json:"scope"`
	Connected bool   `json:"connected"` // its JIT configuration was traded
}

func (s *Simulator) pageRunners(*http.Request) answer {
	all := []shown{}
	for _, r := range s.Runners() {
		all = append(all, shown{Runner: r, Scope: r.Scope, Connected: r.taken})
	}
	return answer{status: http.StatusOK, body: all}
}

func (s *Simulator) pageSet(r *http.Request) answer {
	name, state := r.PathValue("name"), r.PathValue("state")
	if !s.Set(name, state) {
		return refuse(http.StatusNotFound, fmt.Sprintf("no runner %q, or %q is none of the states online, offline, busy, done", name, state))
	}
	return answer{status: http.StatusNoContent}
}

func (s *Simulator) pageFault(r *http.Request) answer {
	var f Fault
	d := json.NewDecoder(io.LimitReader(r.Body, 1<<16))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	if err := s.Fault(f); err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	return answer{status: http.StatusCreated, body: f}
}

func (s *Simulator) pageConnect(r *http.Request) answer {
	config, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return refuse(http.StatusBadRequest, err.Error())
	}
	session, runner, status := s.Connect(strings.TrimSpace(string(config)))
	switch status {
	case http.StatusNotFound:
		return refuse(status, "the body is not the JIT configuration of a registered runner")
	case http.StatusConflict:
		return refuse(status, "the JIT configuration was used before")
	}
	return answer{status: status, body: map[string]any{"session": session, "runner": runner}}
}

func (s *Simulator) pageDisconnect(r *http.Request) answer {
	if idle := r.URL.Query().Get("idle"); idle != "" {
		return s.pageLeave(r, idle)
	}
	if !s.Disconnect(credential(r)) {
		return noSession()
	}
	return answer{status: http.StatusNoContent}
}

// pageLeave ends the session of an idle runner, which stays registered or not.
func (s *Simulator) pageLeave(r *http.Request, idle string) answer {
	if idle != "stay" && idle != "remove" {
		return refuse(http.StatusBadRequest, fmt.Sprintf("idle %q is neither stay nor remove", idle))
	}
	switch status := s.Leave(credential(r), idle == "remove"); status {
	case http.StatusNotFound:
		return noSession()
	case http.StatusConflict:
		return refuse(status, "the runner has a job: ask for it, do it, and report its end")
	}
	return answer{status: http.StatusNoContent}
}
