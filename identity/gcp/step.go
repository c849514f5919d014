// SPDX-License-Identifier: Apache-2.0

package gcp

import "errors"

// A stepError is an error that knows which step of an exchange it is of.
type stepError struct {
	step string
	err  error
}

// Error is the message alone.
func (e *stepError) Error() string { return e.err.Error() }

// Unwrap gives the wrapped error, which has the reason.
func (e *stepError) Unwrap() error { return e.err }

// refusedAt is the step at which an exchange failed, "" if that is not known.
func refusedAt(err error) string {
	if e, ok := errors.AsType[*stepError](err); ok {
		return e.step
	}
	return ""
}
