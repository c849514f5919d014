// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Kind is what goes wrong.
type Kind string

// The kinds of faults.
const (
	// Throttle answers that the rate was exceeded.
	Throttle Kind = "throttle"
	// Broken answers 500.
	Broken Kind = "500"
	// Slow waits for the fault's delay and then answers as always.
	Slow Kind = "slow"
	// AccessDenied refuses the call.
	AccessDenied Kind = "accessdenied"
	// ClockSkew puts the cloud's clock off by the fault's delay, which may be negative.
	ClockSkew Kind = "clockskew"
	// ErrorCode answers with the fault's code.
	ErrorCode Kind = "error"
)

// A Fault makes calls go wrong.
type Fault struct {
	// Service and Action say which calls; empty stands for all.
	Service string `json:"service,omitempty"`
	Action  string `json:"action,omitempty"`
	Kind    Kind   `json:"kind"`
	// Count is for how many calls it lasts; zero lasts until it is cleared.
	Count int `json:"count,omitempty"`
	// Delay is for Slow and ClockSkew.
	Delay time.Duration `json:"-"`
	// Code is for ErrorCode, such as RegionDisabledException.
	Code string `json:"code,omitempty"`
}

type plainFault Fault

type wireFault struct {
	plainFault
	Delay metav1.Duration `json:"delay,omitzero"`
}

// MarshalJSON writes the delay as "1m30s".
func (f Fault) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireFault{plainFault(f), metav1.Duration{Duration: f.Delay}})
}

// UnmarshalJSON reads a delay such as "1m30s".
func (f *Fault) UnmarshalJSON(b []byte) error {
	var w wireFault
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields() // The outer decoder's strictness does not reach in here.
	if err := d.Decode(&w); err != nil {
		return err
	}
	*f = Fault(w.plainFault)
	f.Delay = w.Delay.Duration
	return nil
}

func (f Fault) validate() error {
	kinds := []Kind{Throttle, Broken, Slow, AccessDenied, ClockSkew, ErrorCode}
	switch {
	case !slices.Contains(kinds, f.Kind):
		return fmt.Errorf("kind %q: must be one of %q", f.Kind, kinds)
	case !slices.Contains([]string{"", STS, ECR, ECRPublic, Registry}, f.Service):
		return fmt.Errorf("service %q: must be sts, ecr, ecr-public, registry, or empty for all", f.Service)
	case (f.Kind == Slow && f.Delay <= 0) || (f.Kind == ClockSkew && f.Delay == 0):
		return fmt.Errorf("delay %s: kind %s needs one, such as 10s", f.Delay, f.Kind)
	case f.Kind == ErrorCode && statuses()[f.Code] == 0:
		return fmt.Errorf("code %q: must be one of %s", f.Code, strings.Join(slices.Sorted(maps.Keys(statuses())), ", "))
	case f.Count < 0:
		return fmt.Errorf("count %d: must be 0 (until cleared) or more", f.Count)
	}
	return nil
}

func (f Fault) hits(c *call) bool {
	return (f.Service == "" || f.Service == c.service) && (f.Action == "" || f.Action == c.action)
}

// statuses are the error codes that no check of the simulator gives but AWS does, and their HTTP statuses.
func statuses() map[string]int {
	return map[string]int{
		"IDPCommunicationError": http.StatusBadRequest, "IDPRejectedClaim": http.StatusForbidden,
		"InvalidIdentityToken": http.StatusBadRequest, "PackedPolicyTooLarge": http.StatusBadRequest,
		"MalformedPolicyDocument": http.StatusBadRequest, "RegionDisabledException": http.StatusForbidden,
		// With this status it is the client's fault, and no SDK retries it; kind 500 gives the other.
		"ServerException":             http.StatusBadRequest,
		"UnsupportedCommandException": http.StatusBadRequest, "ExpiredTokenException": http.StatusBadRequest,
		"ServiceUnavailable": http.StatusServiceUnavailable,
	}
}

type faults struct {
	mu   sync.Mutex
	list []Fault
}

// take is the first fault that hits the call, which has one hit less from now on.
func (f *faults) take(c *call) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(x Fault) bool { return x.hits(c) })
	if i < 0 {
		return Fault{}, false
	}
	found := f.list[i]
	switch found.Count {
	case 0:
	case 1:
		f.list = slices.Delete(f.list, i, i+1)
	default:
		f.list[i].Count--
	}
	return found, true
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}
