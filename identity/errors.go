// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
)

// A Reason says who has to act on an error. It is also the condition reason and the metric label.
type Reason string

const (
	// Invalid means that the spec must change; no retry helps.
	Invalid Reason = "InvalidIdentity"
	// Denied means that the cloud must change; retry slowly.
	Denied Reason = "IdentityDenied"
	// Unreachable means that time must pass; retry with back-off.
	Unreachable Reason = "CloudUnreachable"
)

// Error is an error with a reason.
type Error struct {
	Reason Reason
	err    error
}

// Errorf makes an Error. It takes the verbs of fmt.Errorf, %w too.
func Errorf(r Reason, format string, a ...any) error {
	return &Error{Reason: r, err: fmt.Errorf(format, a...)}
}

// Error is the message alone: the reason stands beside it wherever errors are shown.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap gives the wrapped error.
func (e *Error) Unwrap() error { return e.err }

// ReasonOf returns the reason of the outermost Error in the chain. An error without one is Unreachable: retrying is safe.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return Unreachable
}

// Problems makes one Invalid error of what a Validator found, nil if it found nothing.
func Problems(problems []Problem) error {
	errs := make([]error, 0, len(problems))
	for _, p := range problems {
		errs = append(errs, errors.New(p.String()))
	}
	if len(errs) == 0 {
		return nil
	}
	return &Error{Reason: Invalid, err: errors.Join(errs...)}
}
