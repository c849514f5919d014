// SPDX-License-Identifier: Apache-2.0

package github

import (
	"maps"
	"net/http"
)

// Calls counts the calls of a route.
type Calls struct {
	Total int `json:"total"`
	// Refused were answered with 400 or more, or not at all.
	Refused int `json:"refused"`
	// NotModified were answered with 304, which is free of charge.
	NotModified int `json:"notModified"`
}

// Calls are the counts by route since the last Reset.
func (s *Simulator) Calls() map[string]Calls {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

func (s *Simulator) count(route string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[route]
	c.Total++
	if status >= http.StatusBadRequest || status == 0 {
		c.Refused++
	}
	if status == http.StatusNotModified {
		c.NotModified++
	}
	s.calls[route] = c
}

func routeNames() []string {
	return []string{RouteRegister, RouteFind, RouteListAll, RouteStatus, RouteRemove, RouteGroups, RouteToken, RouteOther}
}
