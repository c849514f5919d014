// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"net/url"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/internal/refusal"
)

// failureOf reads what a client of AWS's SDK made of an answer. Request ids are left out: they would make each message a new one.
func failureOf(err error, secrets ...identity.Secret) refusal.Failure {
	f := refusal.Failure{Cloud: "AWS", Cause: refusal.Cause(err)}
	if r, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		f.Status = r.HTTPStatusCode()
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		f.Code, f.Message = api.ErrorCode(), refusal.Scrub(api.ErrorMessage(), secrets...)
	} else if network, ok := errors.AsType[*url.Error](err); ok {
		// Its own text has the URL in it; the error inside says what went wrong.
		f.Message = refusal.Scrub(network.Err.Error(), secrets...)
	}
	return f
}

// commonRules hold for all services.
func commonRules() []refusal.Rule {
	const wait = "it is asked again later"
	return []refusal.Rule{
		{Code: "Throttling", Reason: identity.Unreachable, Mend: wait},
		{Code: "ThrottlingException", Reason: identity.Unreachable, Mend: wait},
		{Code: "TooManyRequestsException", Reason: identity.Unreachable, Mend: wait},
		{Code: "RequestLimitExceeded", Reason: identity.Unreachable, Mend: wait},
		{Code: "ServiceUnavailable", Reason: identity.Unreachable, Mend: wait},
		{Code: "InternalFailure", Reason: identity.Unreachable, Mend: wait},
		{Code: "ServerException", Reason: identity.Unreachable, Mend: wait},
	}
}
