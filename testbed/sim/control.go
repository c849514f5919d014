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
POST   /_sim/faults     add one: {"service":%q,"kind":"throttle","count":3}; also action, delay, code, status, body
                        services: %q
                        kinds: %q
DELETE /_sim/faults     clear them
POST   /_sim/expire     end all that was issued so far
POST   /_sim/reset      forget counts and faults, put the lifetimes back
`

// A Control is how a person, with curl, does what tests do by method.
type Control struct {
	Calls         *Calls
	Faults        *Faults
	Expire, Reset func()
	// Help is a line for each path that the simulator has beside these.
	Help string
}

// Serve adds the paths of the control.
func (c Control) Serve(mux *http.ServeMux) {
	mux.HandleFunc("GET /_sim/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, help+"%s", c.Faults.Services[0], c.Faults.Services, c.Faults.Kinds, c.Help)
	})
	mux.HandleFunc("GET /_sim/calls", func(w http.ResponseWriter, _ *http.Request) {
		show(w, struct {
			Counts  []Count `json:"counts"`
			History []Call  `json:"history"`
		}{c.Calls.Summary(), c.Calls.History()})
	})
	mux.HandleFunc("GET /_sim/faults", func(w http.ResponseWriter, _ *http.Request) { show(w, c.Faults.List()) })
	mux.HandleFunc("DELETE /_sim/faults", done(c.Faults.Clear))
	mux.HandleFunc("POST /_sim/faults", Take(c.Faults.Inject))
	mux.HandleFunc("POST /_sim/expire", done(c.Expire))
	mux.HandleFunc("POST /_sim/reset", done(c.Reset))
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

// done handles a request without a body.
func done(do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		do()
		w.WriteHeader(http.StatusNoContent)
	}
}

// show writes a reply for a person.
func show(w http.ResponseWriter, reply any) {
	w.Header().Set("Content-Type", "application/json")
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(reply)
}
