// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
)

const maxBody = 1 << 20

const help = `GET    /_sim/calls      how often each action was called, and the last calls
GET    /_sim/faults     the faults that are still to come
POST   /_sim/faults     add one: {"service":%q,"kind":"throttle","count":3}
                        services: %q
                        kinds: throttle, 500, slow (delay), accessdenied, clockskew (delay), hangup, answer (status, body)
DELETE /_sim/faults     clear them
POST   /_sim/expire     end all that was issued so far
POST   /_sim/reset      forget counts and faults
`

// Control adds the paths by which a person, with curl, does what tests do by method.
func Control(mux *http.ServeMux, calls *Calls, faults *Faults, expire, reset func()) {
	mux.HandleFunc("GET /_sim/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, help, faults.Services[0], faults.Services)
	})
	mux.HandleFunc("GET /_sim/calls", func(w http.ResponseWriter, _ *http.Request) {
		Show(w, struct {
			Counts  []Count `json:"counts"`
			History []Call  `json:"history"`
		}{calls.Summary(), calls.History()})
	})
	mux.HandleFunc("GET /_sim/faults", func(w http.ResponseWriter, _ *http.Request) { Show(w, faults.List()) })
	mux.HandleFunc("DELETE /_sim/faults", Done(faults.Clear))
	mux.HandleFunc("POST /_sim/faults", Take(faults.Inject))
	mux.HandleFunc("POST /_sim/expire", Done(expire))
	mux.HandleFunc("POST /_sim/reset", Done(reset))
}

// Done handles a request without a body.
func Done(do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		do()
		w.WriteHeader(http.StatusNoContent)
	}
}

// Take handles a request whose body is a T. A field that T does not have is an error.
func Take[T any](do func(T) error) http.HandlerFunc {
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

// Show writes a reply for a person.
func Show(w http.ResponseWriter, reply any) {
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(reply)
}
