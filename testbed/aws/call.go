// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// The services, by their SigV4 names; Registry is the registries' login.
const (
	STS       = "sts"
	ECR       = "ecr"
	ECRPublic = "ecr-public"
	Registry  = "registry"
)

const maxBody = 1 << 20

// A call is one request while it is answered.
type call struct {
	http            *http.Request
	body            []byte
	form            url.Values
	service, action string
	id              string
	// skew is how far off the cloud's clock is for this call.
	skew time.Duration
	// now is the simulator's clock with the skew.
	now time.Time
	// who is the principal or the role asked for, for the call log.
	who string
	// why is why a trust policy said no.
	why string
}

type operation func(*call) (any, error)

// api answers a call of STS, ECR or ECR Public.
func (s *Server) api(w http.ResponseWriter, r *http.Request) {
	c, err := read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply, err := s.answer(c)
	s.record(c, err)
	if c.skew != 0 {
		// SDKs set their clock by this header once a signature is refused for its time.
		w.Header().Set("Date", time.Now().Add(c.skew).UTC().Format(http.TimeFormat))
	}
	c.write(w, reply, err)
}

func (s *Server) answer(c *call) (any, error) {
	op, ok := s.operation(c.service, c.action)
	if !ok {
		return nil, c.unknownAction()
	}
	if err := s.inject(c); err != nil {
		return nil, err
	}
	return op(c)
}

func (s *Server) operation(service, action string) (operation, bool) {
	op, ok := map[string]operation{
		STS + ".AssumeRoleWithWebIdentity": s.assumeRoleWithWebIdentity,
		STS + ".AssumeRole":                s.assumeRole,
		STS + ".GetCallerIdentity":         s.getCallerIdentity,
		ECR + ".GetAuthorizationToken":     s.ecrToken,
		ECRPublic + "." + tokenAction:      s.ecrPublicToken,
	}[service+"."+action]
	return op, ok
}

// read finds out which service and action a request is for: a target header for the JSON protocol, else a form.
func read(r *http.Request) (*call, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, err
	}
	c := &call{http: r, body: body, id: uuid.NewString()}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		prefix, action, _ := strings.Cut(target, ".")
		c.service, c.action = jsonService(prefix), action
		return c, nil
	}
	c.service = STS
	if c.form, err = url.ParseQuery(string(body)); err != nil {
		return nil, err
	}
	c.action = c.form.Get("Action")
	return c, nil
}

func (s *Server) record(c *call, err error) {
	outcome := codeOf(err)
	s.calls.Add(sim.Call{
		Time: s.clock.Now(), Service: c.service, Action: c.action, Principal: c.who, Outcome: outcome, Reason: c.why,
		RequestID: c.id,
	})
	s.log.Info("call", slog.String("service", c.service), slog.String("action", c.action),
		slog.String("principal", c.who), slog.String("outcome", outcome),
		slog.String("reason", c.why), slog.String("requestID", c.id))
}
