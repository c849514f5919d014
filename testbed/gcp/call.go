// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

const maxBody = 1 << 20

// statusGone is what proxies log for a client that did not wait; nobody is there to read it.
const statusGone = 499

// A call is one request while it is answered.
type call struct {
	http            *http.Request
	body            []byte
	service, action string
	// now is the simulator's clock, with a fault's skew.
	now time.Time
	// who is the principal or the account asked for, for the call log.
	who string
	// why is why somebody was refused.
	why string
}

// An operation answers a call: with a reply to be sent as JSON, or a text to be sent as it is.
type operation func(*call) (any, error)

// text is a reply that is not JSON.
type text string

// serve makes an HTTP handler of an operation.
func (s *Server) serve(service, action string, do operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c := &call{http: r, body: body, service: service, action: action}
		var reply any
		if err = s.inject(c); err == nil {
			reply, err = do(c)
		}
		s.record(c, err)
		c.write(w, reply, err)
	}
}

// inject sets the call's time and does to it what a fault says.
func (s *Server) inject(c *call) error {
	f := s.faults.Take(c.service, c.action)
	c.now = s.clock.Now()
	switch f.Kind {
	case sim.ClockSkew:
		c.now = c.now.Add(f.Delay)
	case sim.Slow:
		select {
		case <-s.clock.After(f.Delay):
		case <-c.http.Context().Done():
			return &apiError{status: statusGone, code: "ClientClosedRequest"}
		}
		c.now = s.clock.Now()
	case sim.Throttle:
		return refuse(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Token exchange requests'.")
	case sim.Broken:
		return refuse(http.StatusInternalServerError, "INTERNAL", "Internal error encountered.")
	case sim.AccessDenied:
		return refuse(http.StatusForbidden, "PERMISSION_DENIED", "The caller does not have permission")
	case sim.HangUp:
		return errHangUp
	case sim.Answer:
		return &apiError{status: f.Status, code: http.StatusText(f.Status), raw: f.Body}
	}
	return nil
}

// errHangUp ends the connection.
var errHangUp = errors.New("hung up")

func (s *Server) record(c *call, err error) {
	outcome := codeOf(err)
	s.calls.Add(sim.Call{Time: s.clock.Now(), Service: c.service, Action: c.action, Principal: c.who, Outcome: outcome, Reason: c.why})
	s.log.Info("call", slog.String("service", c.service), slog.String("action", c.action),
		slog.String("principal", c.who), slog.String("outcome", outcome), slog.String("reason", c.why))
}

// write sends the reply, or the error, in the words of the service.
func (c *call) write(w http.ResponseWriter, reply any, err error) {
	if errors.Is(err, errHangUp) {
		panic(http.ErrAbortHandler)
	}
	if e := asAPI(err); e != nil {
		c.writeError(w, e)
		return
	}
	if t, ok := reply.(text); ok {
		w.Header().Set("Content-Type", "application/text")
		_, _ = io.WriteString(w, string(t))
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(reply)
}

// bearer is the access token of a call, if it is one that is good now.
func (s *Server) bearer(c *call) (token, error) {
	value, ok := strings.CutPrefix(c.http.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return token{}, unauthenticated()
	}
	t, err := s.lookup(value, c.now)
	c.who = t.who
	if err != nil {
		c.why = err.Error()
		return token{}, unauthenticated()
	}
	return t, nil
}
