// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// A failure is what Google answered, without what must not be shown.
type failure struct {
	// code is Google's error code, such as invalid_grant or PERMISSION_DENIED; empty if the answer was not Google's.
	code string
	// message is what Google, or the network, said.
	message string
	// status is the HTTP status, 0 if there was no answer.
	status int
	// cause is context.Canceled or context.DeadlineExceeded if that was the reason.
	cause error
}

// failureOf reads an answer; err is what the client made of it.
func failureOf(a answer, err error, secrets ...identity.Secret) failure {
	f := failure{status: a.status}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) || errors.Is(a.err, cause) {
			f.cause = cause
		}
	}
	f.code, f.message = decodeError(a.body)
	if f.message == "" && a.err != nil {
		f.message = a.err.Error()
	} else if f.message == "" && a.status < http.StatusMultipleChoices {
		f.message = err.Error()
	}
	f.message = scrub(f.message, secrets)
	return f
}

// decodeError reads both kinds of error that Google has: STS's, of OAuth, and that of its other services.
func decodeError(body []byte) (code, message string) {
	var oauth struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(body, &oauth) == nil && oauth.Error != "" {
		return oauth.Error, oauth.Description
	}
	var api struct {
		Error struct {
			Message string `json:"message"`
			Status  string `json:"status"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &api) == nil && api.Error.Status != "" {
		return api.Error.Status, api.Error.Message
	}
	return "", ""
}

// tokenLike matches JSON Web Tokens and Google's access tokens.
var tokenLike = regexp.MustCompile(`eyJ[A-Za-z0-9_.=-]*|ya29\.[A-Za-z0-9_.-]*`)

// maxMessage is as much of a message as is shown.
const maxMessage = 300

// scrub takes secrets out of a message and makes it one short line.
func scrub(message string, secrets []identity.Secret) string {
	for _, s := range secrets {
		if v := strings.TrimSpace(s.Reveal()); v != "" {
			message = strings.ReplaceAll(message, v, s.String())
		}
	}
	message = tokenLike.ReplaceAllString(message, "[redacted]")
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + " ..."
	}
	return strings.TrimSuffix(message, ".")
}

// String is the code and the message, or what there is instead of them.
func (f failure) String() string {
	switch {
	case f.code != "" && f.message != "":
		return f.code + ": " + f.message
	case f.code != "":
		return f.code
	case f.status >= http.StatusMultipleChoices:
		return fmt.Sprintf("answered HTTP %d, which is not an answer of Google", f.status)
	case f.message != "":
		return "no answer that could be read: " + f.message
	}
	return "no answer that could be read"
}

// A rule says what an error of Google means and what mends it. In mend, {names} are filled in.
type rule struct {
	code string
	// contains is a part of the message, for codes with several meanings.
	contains string
	// status is the HTTP status, for answers without a code.
	status int
	reason identity.Reason
	mend   string
}

func (r rule) matches(f failure) bool {
	return (r.code == "" || r.code == f.code) && (r.status == 0 || r.status == f.status) &&
		strings.Contains(strings.ToLower(f.message), strings.ToLower(r.contains))
}

// classify makes an error of a failure by the first rule that matches.
func (f failure) classify(what string, rules []rule, names *strings.Replacer) error {
	if f.cause != nil {
		return identity.Errorf(identity.Unreachable, "%s: no answer in time: %w", what, f.cause)
	}
	for _, r := range rules {
		if r.matches(f) {
			return identity.Errorf(r.reason, "%s: %s; %s", what, f, names.Replace(r.mend))
		}
	}
	// An answer below 500 that no rule knows is a refusal: asking again at once gives it again.
	if f.code != "" && f.status >= http.StatusBadRequest && f.status < http.StatusInternalServerError {
		return identity.Errorf(identity.Denied, "%s: %s", what, f)
	}
	return identity.Errorf(identity.Unreachable, "%s: %s", what, f)
}

// commonRules hold for all services.
func commonRules() []rule {
	const wait = "it is asked again later"
	return []rule{
		{status: http.StatusTooManyRequests, reason: identity.Unreachable, mend: wait},
		{code: "RESOURCE_EXHAUSTED", reason: identity.Unreachable, mend: wait},
		{code: "UNAVAILABLE", reason: identity.Unreachable, mend: wait},
		{code: "PERMISSION_DENIED", contains: "serviceusage.services.use", reason: identity.Denied,
			mend: "grant it: gcloud projects add-iam-policy-binding {quota} --role roles/serviceusage.serviceUsageConsumer --member '{member}'"},
		{code: "PERMISSION_DENIED", contains: "has not been used in project", reason: identity.Denied,
			mend: "switch the API on: gcloud services enable {api} --project {project}"},
	}
}
