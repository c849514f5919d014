// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// pingAction is how a registry's login check is counted.
const pingAction = "Ping"

// registry answers GET /v2/ of whichever registry the Host header names: 200 if it takes the login, else 401. That is
// what docker login asks.
func (s *Server) registry(w http.ResponseWriter, r *http.Request) {
	c := &call{http: r, service: Registry, action: pingAction, id: uuid.NewString()}
	err := s.ping(c)
	s.record(c, err)
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	w.Header().Set("Content-Type", "application/json")
	e := asAPI(err)
	if e == nil {
		_, _ = w.Write([]byte("{}"))
		return
	}
	if e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="https://`+r.Host+`/",service="ecr.amazonaws.com"`)
	}
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": e.code, "message": e.message}}})
}

func (s *Server) ping(c *call) error {
	if err := s.inject(c); err != nil {
		return err
	}
	user, password, ok := c.http.BasicAuth()
	if !ok {
		return refuse(http.StatusUnauthorized, "UNAUTHORIZED", "no basic auth credentials")
	}
	account, region, err := s.Verify(user, password, c.http.Host)
	c.who = strings.TrimSpace(account + " " + region)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrExpiredLogin):
		return refuse(http.StatusUnauthorized, "DENIED", "Your authorization token has expired. Reauthenticate and try again.")
	case errors.Is(err, ErrUnknownLogin), errors.Is(err, ErrForeignRegistry):
		return refuse(http.StatusUnauthorized, "UNAUTHORIZED", "Not Authorized")
	}
	return refuse(http.StatusNotFound, "NAME_UNKNOWN", "%s", err)
}
