// SPDX-License-Identifier: Apache-2.0

package github

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FaultKind is what goes wrong.
type FaultKind string

// The kinds of faults.
const (
	RateLimit      FaultKind = "rate-limit"      // 403, nothing remaining until Wait is over
	SecondaryLimit FaultKind = "secondary-limit" // Status (403), Retry-After: Wait; without a Wait no such header
	Failure        FaultKind = "failure"         // Status (502) and a page that is not JSON
	Slow           FaultKind = "slow"            // the answer comes after Wait; without a Wait never
	Down           FaultKind = "down"            // the connection closes and nothing is done
	Lost           FaultKind = "lost"            // it is done and the connection closes
)

// A Fault goes wrong on a route.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Route is one of the Route constants, empty for all.
	Route string `json:"route,omitempty"`
	// Times is how often, 0 until faults are cleared.
	Times int `json:"times,omitempty"`
	// Wait and Status are the kind's.
	Wait   time.Duration `json:"-"`
	Status int           `json:"status,omitempty"`
	// Seconds is Wait in JSON.
	Seconds float64 `json:"seconds,omitempty"`
}

// Fault adds a fault. The one that was added first wins.
func (s *Simulator) Fault(f Fault) error {
	kinds := []FaultKind{RateLimit, SecondaryLimit, Failure, Slow, Down, Lost}
	if !slices.Contains(kinds, f.Kind) {
		return fmt.Errorf("kind %q is none of %v", f.Kind, kinds)
	}
	if names := routeNames(); f.Route != "" && !slices.Contains(names, f.Route) {
		return fmt.Errorf("route %q is none of %s", f.Route, strings.Join(names, ", "))
	}
	if f.Wait == 0 {
		f.Wait = time.Duration(f.Seconds * float64(time.Second))
	}
	f.Seconds = f.Wait.Seconds()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
	return nil
}

// ClearFaults ends all faults. Answers that are held back come when their Wait is over.
func (s *Simulator) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Faults are those that have not run out.
func (s *Simulator) Faults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []Fault{}
	for _, f := range s.faults {
		all = append(all, *f)
	}
	return all
}

// take is the fault for a call, nil if all goes well.
func (s *Simulator) take(route string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.faults, func(f *Fault) bool { return f.Route == "" || f.Route == route })
	if i < 0 {
		return nil
	}
	fault := *s.faults[i]
	if s.faults[i].Times--; s.faults[i].Times == 0 {
		s.faults = slices.Delete(s.faults, i, i+1)
	} else if s.faults[i].Times < 0 {
		s.faults[i].Times = 0 // without end
	}
	return &fault
}

// play answers a call as the fault has it. drop means that the answer is not sent.
func (f *Fault) play(r *http.Request, now time.Time, h func(*http.Request) answer) (a answer, drop bool) {
	if f == nil {
		return h(r), false
	}
	switch f.Kind {
	case RateLimit:
		return rateLimited(now.Add(f.Wait)).with(http.Header{"X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Resource": {resourceOf(f.Route)}}), false
	case SecondaryLimit:
		return f.secondary(), false
	case Failure:
		return answer{status: cmp.Or(f.Status, http.StatusBadGateway), body: "<html><title>Unicorn!</title></html>"}, false
	case Slow:
		f.hold(r)
		return h(r), false
	case Lost:
		return h(r), true
	}
	return answer{}, true // Down
}

func (f *Fault) secondary() answer {
	a := refuse(cmp.Or(f.Status, http.StatusForbidden), "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	if f.Wait > 0 {
		return a.with(http.Header{"Retry-After": {strconv.Itoa(int(f.Wait.Seconds()))}})
	}
	body := a.body.(refusal) // without the header, the link is all that tells it from a lack of rights
	body.DocumentationURL = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"
	a.body = body
	return a
}

// hold waits until the time is over or the caller has gone, which net/http notices only once the body is read.
func (f *Fault) hold(r *http.Request) {
	if body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20)); err == nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	var over <-chan time.Time
	if f.Wait > 0 {
		over = time.After(f.Wait)
	}
	select {
	case <-over:
	case <-r.Context().Done():
	}
}
