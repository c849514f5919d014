// SPDX-License-Identifier: Apache-2.0

package aws

import "net/http"

// statusGone is what proxies log for a client that did not wait; nobody is there to read it.
const statusGone = 499

// inject sets the call's time and does to it what a fault says.
func (s *Server) inject(c *call) error {
	f := s.faults.Take(c.service, c.action)
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
	return c.fail(f)
}

// fail is the error that a fault is.
func (c *call) fail(f Fault) error {
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
