// SPDX-License-Identifier: Apache-2.0

// Package refusal makes errors of what clouds answer: who has to act, and what mends it. What it makes holds no secret, and is
// the same for the same refusal.
package refusal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// A Failure is what a cloud answered, without what must not be shown.
type Failure struct {
	// Cloud is who was asked, for a person.
	Cloud string
	// Code is the cloud's error code, such as AccessDenied or PERMISSION_DENIED; empty if the answer was not the cloud's.
	Code string
	// Message is what the cloud said, or the network if there was no answer. It went through Scrub.
	Message string
	// Status is the HTTP status, 0 if there was no answer.
	Status int
	// Cause is context.Canceled or context.DeadlineExceeded if that was the reason.
	Cause error
}

// Cause is context.Canceled or context.DeadlineExceeded if one of the errors is, else nil.
func Cause(errs ...error) error {
	all := errors.Join(errs...)
	for _, cause := range []error{context.DeadlineExceeded, context.Canceled} {
		if errors.Is(all, cause) {
			return cause
		}
	}
	return nil
}

// String is the code and the message, or what there is instead of them.
func (f Failure) String() string {
	switch {
	case f.Code != "" && f.Message != "":
		return f.Code + ": " + f.Message
	case f.Code != "":
		return f.Code
	case f.Message != "":
		return "no answer that could be read: " + f.Message
	case f.Status != 0:
		return fmt.Sprintf("answered HTTP %d, which is not an answer of %s", f.Status, f.Cloud)
	}
	return "no answer that could be read"
}

// A Rule says what an error of a cloud means and what mends it. Code, Contains and Status say which error; what is empty says
// nothing.
type Rule struct {
	Code string
	// Contains is a part of the message in any case, for codes with several meanings.
	Contains string
	// Status is the HTTP status, for answers without a code.
	Status int
	Reason identity.Reason
	// Mend is what to do. {names} in it are filled in.
	Mend string
}

func (r Rule) matches(f Failure) bool {
	return (r.Code == "" || r.Code == f.Code) && (r.Status == 0 || r.Status == f.Status) &&
		strings.Contains(strings.ToLower(f.Message), strings.ToLower(r.Contains))
}

// Explain makes an error of a failure by the first rule that matches. what is who was asked, and for what.
func (f Failure) Explain(what string, rules []Rule, names *strings.Replacer) error {
	if f.Cause != nil {
		return identity.Errorf(identity.Unreachable, "%s: no answer in time: %w", what, f.Cause)
	}
	for _, r := range rules {
		if r.matches(f) {
			return identity.Errorf(r.Reason, "%s: %s; %s", what, f, names.Replace(r.Mend))
		}
	}
	// An answer below 500 that no rule knows is a refusal: asking again at once gives it again.
	if f.Code != "" && f.Status >= http.StatusBadRequest && f.Status < http.StatusInternalServerError {
		return identity.Errorf(identity.Denied, "%s: %s", what, f)
	}
	return identity.Errorf(identity.Unreachable, "%s: %s", what, f)
}
