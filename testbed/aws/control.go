// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const help = `GET    /_sim/calls      how often each action was called, and the last calls
GET    /_sim/faults     the faults that are still to come
POST   /_sim/faults     add one: {"service":"sts","action":"AssumeRoleWithWebIdentity","kind":"throttle","count":3}
                        kinds: throttle, 500, slow (delay), accessdenied, clockskew (delay), error (code)
DELETE /_sim/faults     clear them
PUT    /_sim/lifetimes  {"login":"1m","session":"15m"}, for what is issued from now on
POST   /_sim/expire     end all sessions and logins that were issued so far
POST   /_sim/reset      forget counts and faults, put the lifetimes back
`

type callsReply struct {
	Counts  []countReply `json:"counts"`
	History []Call       `json:"history"`
}

type countReply struct {
	Service string `json:"service"`
	Action  string `json:"action"`
	Count   int    `json:"count"`
}

type lifetimesRequest struct {
	Login   metav1.Duration `json:"login"`
	Session metav1.Duration `json:"session"`
}

// control adds the paths by which a person, with curl, does what tests do by method.
func (s *Server) control(mux *http.ServeMux) {
	mux.HandleFunc("GET /_sim/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(help)) })
	mux.HandleFunc("GET /_sim/calls", func(w http.ResponseWriter, _ *http.Request) {
		show(w, callsReply{Counts: s.calls.summary(), History: s.History()})
	})
	mux.HandleFunc("GET /_sim/faults", func(w http.ResponseWriter, _ *http.Request) { show(w, s.Faults()) })
	mux.HandleFunc("DELETE /_sim/faults", done(s.ClearFaults))
	mux.HandleFunc("POST /_sim/expire", done(s.Expire))
	mux.HandleFunc("POST /_sim/reset", done(s.Reset))
	mux.HandleFunc("POST /_sim/faults", take(s.Inject))
	mux.HandleFunc("PUT /_sim/lifetimes", take(func(l lifetimesRequest) error {
		return s.SetLifetimes(Lifetimes{Login: l.Login.Duration, Session: l.Session.Duration})
	}))
}

// done handles a request without a body.
func done(do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		do()
		w.WriteHeader(http.StatusNoContent)
	}
}

// take handles a request whose body is a T.
func take[T any](do func(T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&body)
		if err == nil {
			err = do(body)
		}
		if err != nil {
			http.Error(w, fmt.Sprintf("%s %s: %s", r.Method, r.URL.Path, err), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func show(w http.ResponseWriter, reply any) {
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(reply)
}
