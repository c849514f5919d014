// SPDX-License-Identifier: Apache-2.0

package aws

import "net/http"

// statusGone is what proxies log for a client that did not wait; nobody is there to read it.
const statusGone = 499

// Inject adds a fault. Of several that hit a call the oldest is taken. The error names the field that is wrong.
func (s *Server) Inject(f Fault) error {
	if err := f.validate(); err != nil {
		return err
	}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append(s.faults.list, f)
	return nil
}

// Faults are those that are still to come, oldest first.
func (s *Server) Faults() []Fault {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return append([]Fault{}, s.faults.list...)
}

// ClearFaults makes everything go well again.
func (s *Server) ClearFaults() { s.faults.clear() }

// inject sets the call's time and does to it what a fault says.
func (s *Server) inject(c *call) error {
	f, _ := s.faults.take(c)
	if f.Kind == ClockSkew {
		c.skew = f.Delay
	}
	if f.Kind == Slow {
		select {
		case <-s.clock.After(f.Delay):
		case <-c.http.Context().Done():
			return refuse(statusGone, "ClientClosedRequest", "the client went away")
		}
	}
	c.now = s.clock.Now().Add(c.skew)
	return f.error(c)
}

func (f Fault) error(c *call) error {
	switch f.Kind {
	case Throttle:
		return c.throttled()
	case Broken:
		return c.broken()
	case AccessDenied:
		if c.service == Registry {
			return refuse(http.StatusForbidden, "DENIED", "User is not authorized")
		}
		return c.denied("User is not authorized to perform: %s:%s", c.service, c.action)
	case ErrorCode:
		return refuse(statuses()[f.Code], f.Code, "%s, as asked for of this simulator", f.Code)
	}
	return nil
}

func (c *call) throttled() error {
	switch c.service {
	case STS:
		return refuse(http.StatusBadRequest, "Throttling", "Rate exceeded")
	case Registry:
		return refuse(http.StatusTooManyRequests, "TOOMANYREQUESTS", "Rate exceeded")
	}
	return refuse(http.StatusBadRequest, "ThrottlingException", "Rate exceeded")
}

func (c *call) broken() error {
	if c.service == STS {
		return refuse(http.StatusInternalServerError, "InternalFailure", "")
	}
	return refuse(http.StatusInternalServerError, "ServerException", "An unexpected error occurred on the server side.")
}
