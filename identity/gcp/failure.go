// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/internal/refusal"
)

// failureOf reads an answer; err is what the client made of it.
func failureOf(a answer, err error, secrets ...identity.Secret) refusal.Failure {
	f := refusal.Failure{Cloud: "Google", Status: a.status, Cause: refusal.Cause(err, a.err)}
	f.Code, f.Message = decodeError(a.body)
	if f.Message == "" && a.status < http.StatusMultipleChoices {
		f.Message = cmp.Or(a.err, err).Error()
	}
	f.Message = refusal.Scrub(f.Message, secrets...)
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

// commonRules hold for all services.
func commonRules() []refusal.Rule {
	const wait = "it is asked again later"
	return []refusal.Rule{
		{Status: http.StatusTooManyRequests, Reason: identity.Unreachable, Mend: wait},
		{Code: "RESOURCE_EXHAUSTED", Reason: identity.Unreachable, Mend: wait},
		{Code: "UNAVAILABLE", Reason: identity.Unreachable, Mend: wait},
		{Code: "PERMISSION_DENIED", Contains: "serviceusage.services.use", Reason: identity.Denied,
			Mend: "grant it: gcloud projects add-iam-policy-binding {quota} --role roles/serviceusage.serviceUsageConsumer --member '{member}'"},
		{Code: "PERMISSION_DENIED", Contains: "has not been used in project", Reason: identity.Denied,
			Mend: "switch the API on: gcloud services enable {api} --project {project}"},
	}
}
