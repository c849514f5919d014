// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/runner-identity/runner-identity/identity"
)

// A failure is what AWS answered, without what must not or need not be shown: tokens, and request ids, which would make
// each message a new one.
type failure struct {
	// code is AWS's error code, empty if the answer was not AWS's.
	code string
	// message is what AWS, or the network, said.
	message string
	// status is the HTTP status, 0 if there was no answer.
	status int
	// cause is context.Canceled or context.DeadlineExceeded if that was the reason.
	cause error
}

func failureOf(err error, secrets ...identity.Secret) failure {
	var f failure
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		f.status = r.HTTPStatusCode()
	}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) {
			f.cause = cause
		}
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		f.code, f.message = api.ErrorCode(), scrub(api.ErrorMessage(), secrets)
	} else if network, ok := errors.AsType[*url.Error](err); ok {
		// Its own text has the URL in it; the error inside says what went wrong.
		f.message = scrub(network.Err.Error(), secrets)
	}
	return f
}

// tokenLike matches JSON Web Tokens: STS quotes the value that it does not like.
var tokenLike = regexp.MustCompile(`eyJ[A-Za-z0-9_.=-]*`)

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
	return message
}

// String is the code and the message, or what there is instead of them.
func (f failure) String() string {
	switch {
	case f.code != "" && f.message != "":
		return f.code + ": " + f.message
	case f.code != "":
		return f.code
	case f.status != 0:
		return fmt.Sprintf("answered HTTP %d, which is not an answer of AWS", f.status)
	case f.message != "":
		return "no answer: " + f.message
	}
	return "no answer that could be read"
}

// A rule says what an error code of AWS means and what mends it. In mend, {names} are filled in.
type rule struct {
	code string
	// contains is a part of the message, for codes with several meanings.
	contains string
	reason   identity.Reason
	mend     string
}

func (r rule) matches(f failure) bool {
	return r.code == f.code && strings.Contains(strings.ToLower(f.message), strings.ToLower(r.contains))
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

// common are rules that hold for all services.
func commonRules() []rule {
	const wait = "it is asked again later"
	return []rule{
		{code: "Throttling", reason: identity.Unreachable, mend: wait},
		{code: "ThrottlingException", reason: identity.Unreachable, mend: wait},
		{code: "TooManyRequestsException", reason: identity.Unreachable, mend: wait},
		{code: "RequestLimitExceeded", reason: identity.Unreachable, mend: wait},
		{code: "ServiceUnavailable", reason: identity.Unreachable, mend: wait},
		{code: "InternalFailure", reason: identity.Unreachable, mend: wait},
		{code: "ServerException", reason: identity.Unreachable, mend: wait},
	}
}
