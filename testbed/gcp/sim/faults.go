// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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
	// HangUp ends the connection without an answer, as a server that is not up yet does.
	HangUp Kind = "hangup"
	// Answer answers with the fault's status and body.
	Answer Kind = "answer"
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
	// Status and Body are for Answer.
	Status int    `json:"status,omitempty"`
	Body   string `json:"body,omitempty"`
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

func (f Fault) validate(services []string) error {
	kinds := []Kind{Throttle, Broken, Slow, AccessDenied, ClockSkew, HangUp, Answer}
	switch {
	case !slices.Contains(kinds, f.Kind):
		return fmt.Errorf("kind %q: must be one of %q", f.Kind, kinds)
	case f.Service != "" && !slices.Contains(services, f.Service):
		return fmt.Errorf("service %q: must be one of %q, or empty for all", f.Service, services)
	case f.Kind == Slow && f.Delay <= 0 || f.Kind == ClockSkew && f.Delay == 0:
		return fmt.Errorf("delay %s: kind %s needs one, such as 10s", f.Delay, f.Kind)
	case f.Kind == Answer && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status %d: kind answer needs one, such as 403", f.Status)
	case f.Count < 0:
		return fmt.Errorf("count %d: must be 0 (until cleared) or more", f.Count)
	}
	return nil
}

// Faults are those that are still to come. Services lists the services that a fault can name.
type Faults struct {
	Services []string

	mu   sync.Mutex
	list []Fault
}

// Inject adds a fault. Of several that hit a call the oldest is taken. The error names the field that is wrong.
func (f *Faults) Inject(fault Fault) error {
	if err := fault.validate(f.Services); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, fault)
	return nil
}

// List is all of them, oldest first.
func (f *Faults) List() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Fault{}, f.list...)
}

// Clear makes everything go well again.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// Take is the first fault that hits a call, which has one hit less from now on. The zero Fault is none.
func (f *Faults) Take(service, action string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(x Fault) bool {
		return (x.Service == "" || x.Service == service) && (x.Action == "" || x.Action == action)
	})
	if i < 0 {
		return Fault{}
	}
	found := f.list[i]
	switch found.Count {
	case 0:
	case 1:
		f.list = slices.Delete(f.list, i, i+1)
	default:
		f.list[i].Count--
	}
	return found
}
