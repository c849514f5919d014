// SPDX-License-Identifier: Apache-2.0

package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Names of the routes, as counts and faults use them.
const (
	RouteRegister = "register"           // POST …/actions/runners/generate-jitconfig
	RouteFind     = "find"               // GET …/actions/runners?name=
	RouteListAll  = "list-all"           // GET …/actions/runners without a name: what a product must not do
	RouteStatus   = "status"             // GET …/actions/runners/{id}
	RouteRemove   = "remove"             // DELETE …/actions/runners/{id}
	RouteGroups   = "groups"             // GET …/actions/runner-groups
	RouteToken    = "installation-token" // POST /app/installations/{id}/access_tokens
	RouteOther    = "other"              // anything else
)

// request is a call that was let in.
type request struct {
	*http.Request
	account *account
	scope   string
}

type handler func(*Simulator, request) answer

func (s *Simulator) routes() {
	for _, prefix := range []string{"/orgs/{owner}", "/enterprises/{owner}", "/repos/{owner}/{name}"} {
		s.route("POST "+prefix+"/actions/runners/generate-jitconfig", RouteRegister, register)
		s.route("GET "+prefix+"/actions/runners", RouteFind, find)
		s.route("GET "+prefix+"/actions/runners/{id}", RouteStatus, status)
		s.route("DELETE "+prefix+"/actions/runners/{id}", RouteRemove, remove)
	}
	s.route("GET /orgs/{owner}/actions/runner-groups", RouteGroups, listGroups)
	s.route("GET /enterprises/{owner}/actions/runner-groups", RouteGroups, listGroups)
	s.serve("POST /app/installations/{id}/access_tokens", RouteToken, s.issueToken)
	s.serve("/", RouteOther, func(*http.Request) answer { return notFound() })
}

// route serves a path of a scope to those who may use it.
func (s *Simulator) route(pattern, route string, h handler) {
	s.serve(pattern, route, func(r *http.Request) answer {
		kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		scope := kind + "/" + strings.Trim(r.PathValue("owner")+"/"+r.PathValue("name"), "/")
		return s.admit(r, route, scope, h)
	})
}

// serve counts a call, plays the faults that were asked for, and writes the answer. A list without a name is a route of its own.
func (s *Simulator) serve(pattern, route string, h func(*http.Request) answer) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		route := route
		if route == RouteFind && r.URL.Query().Get("name") == "" {
			route = RouteListAll
		}
		fault := s.take(route)
		a, drop := fault.play(r, s.options.Clock.Now(), h)
		s.count(route, a.status)
		s.log(r, route, a, fault)
		if drop {
			panic(http.ErrAbortHandler) // net/http's way to close the connection without an answer
		}
		a.write(w, s.options.Clock.Now())
	})
}

// admit checks who calls, what for, and whether there is budget left, and charges for the answer.
func (s *Simulator) admit(r *http.Request, route, scope string, h handler) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	caller, refusal := s.authenticate(r)
	if caller == nil {
		return refusal
	}
	now, resource := s.options.Clock.Now(), resourceOf(route)
	budget := caller.budgets.of(resource, s.options.Budget, now)
	if budget.left() == 0 {
		return rateLimited(budget.reset).with(budget.headers(resource))
	}
	a := s.admitted(request{Request: r, account: caller, scope: scope}, h)
	if etag := a.etag(); etag != "" && r.Header.Get("If-None-Match") == etag {
		return answer{status: http.StatusNotModified}.with(budget.headers(resource)) // free of charge
	}
	budget.used++
	return a.with(budget.headers(resource))
}

func (s *Simulator) admitted(r request, h handler) answer {
	if to, ok := s.renamed[r.scope]; ok {
		return moved(r.Request, r.scope, to)
	}
	if len(s.options.Scopes) > 0 && !slices.Contains(s.options.Scopes, r.scope) {
		return notFound()
	}
	if !r.account.may(r.scope) {
		return forbidden(r.account)
	}
	return h(s, r)
}

func (s *Simulator) log(r *http.Request, route string, a answer, f *Fault) {
	if s.options.Log == nil {
		return
	}
	line := fmt.Sprintf("%s %s %s → %d", route, r.Method, r.URL.Path, a.status)
	if f != nil {
		line += " (" + string(f.Kind) + ")"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintln(s.options.Log, line)
}

func cutPath(path, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(path, prefix)
	return rest, ok && strings.HasPrefix(rest, "/")
}
