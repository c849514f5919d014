// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Kind is what goes wrong.
type Kind string

// The kinds of faults. Which of them a simulator has, its Faults say.
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
	// Code is for ErrorCode, such as RegionDisabledException.
	Code string `json:"code,omitempty"`
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

func (f Fault) hits(service, action string) bool {
	return (f.Service == "" || f.Service == service) && (f.Action == "" || f.Action == action)
}

// check names the field that is wrong, if the fault is not one that a simulator with these Faults can have.
func (f *Faults) check(x Fault) error {
	switch {
	case !slices.Contains(f.Kinds, x.Kind):
		return fmt.Errorf("kind %q: must be one of %q", x.Kind, f.Kinds)
	case x.Service != "" && !slices.Contains(f.Services, x.Service):
		return fmt.Errorf("service %q: must be %s, or empty for all", x.Service, strings.Join(f.Services, ", "))
	case x.Kind == ErrorCode && !slices.Contains(f.Codes, x.Code):
		return fmt.Errorf("code %q: must be one of %s", x.Code, strings.Join(f.Codes, ", "))
	}
	return x.check()
}

// check names the field that is wrong for the kind.
func (f Fault) check() error {
	switch {
	case f.Kind == Slow && f.Delay <= 0 || f.Kind == ClockSkew && f.Delay == 0:
		return fmt.Errorf("delay %s: kind %s needs one, such as 10s", f.Delay, f.Kind)
	case f.Kind == Answer && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status %d: kind answer needs one, such as 403", f.Status)
	case f.Count < 0:
		return fmt.Errorf("count %d: must be 0 (until cleared) or more", f.Count)
	}
	return nil
}
