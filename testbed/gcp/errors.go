// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// Google's words, as users report them. Those of a signature that does not fit are not documented.
const (
	wrongAudienceForm = `Invalid value for "audience". This value should be the full resource name of the Identity Provider. See https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token for the list of possible formats.`
	noTarget          = `The target service indicated by the "audience" parameters is invalid. This might either be because the pool or provider is disabled or deleted or because it doesn't exist.`
	notJWT            = "The ID Token is not a valid JWT."
	notSigned         = "Unable to verify the signature of the ID Token: no key of the issuer matches."
	noKeys            = "Error connecting to the given credential's issuer."
	rejected          = "The given credential is rejected by the attribute condition."
	longSubject       = "The size of mapped attribute google.subject exceeds the 127 bytes limit. Either modify your attribute mapping or the incoming assertion to produce a mapped attribute that is less than 127 bytes."
	noCredentials     = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project."
	noAccessToken     = "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist)."
	longLifetime      = "The access token lifetime cannot exceed 3600 seconds."
)

// An apiError is an error as Google words it. It never holds what a client sent as a secret.
type apiError struct {
	status        int
	code, message string
	// details are those of Google's error model.
	details []any
	// raw is sent as it is.
	raw string
}

// Error is the code and the message.
func (e *apiError) Error() string { return e.code + ": " + e.message }

func refuse(status int, code, format string, a ...any) error {
	return &apiError{status: status, code: code, message: fmt.Sprintf(format, a...)}
}

// oauthError is one of STS.
func oauthError(code, format string, a ...any) error {
	return refuse(http.StatusBadRequest, code, format, a...)
}

func unauthenticated() error {
	return refuse(http.StatusUnauthorized, "UNAUTHENTICATED", noCredentials)
}

// denied is a missing permission, in Google's error model.
func denied(permission, format string, a ...any) error {
	return &apiError{status: http.StatusForbidden, code: "PERMISSION_DENIED", message: fmt.Sprintf(format, a...), details: []any{map[string]any{
		"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "IAM_PERMISSION_DENIED", "domain": "iam.googleapis.com",
		"metadata": map[string]string{"permission": permission},
	}}}
}

// asAPI is the error as Google words it: whatever else went wrong is Google's own fault.
func asAPI(err error) *apiError {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*apiError](err); ok {
		return e
	}
	return &apiError{status: http.StatusInternalServerError, code: "INTERNAL", message: err.Error()}
}

func codeOf(err error) string {
	if e := asAPI(err); e != nil {
		return e.code
	}
	return sim.OK
}

// writeError sends an error in the form of the call's service.
func (c *call) writeError(w http.ResponseWriter, e *apiError) {
	if e.raw != "" || c.service == Metadata && e.message != "" {
		w.WriteHeader(e.status)
		_, _ = io.WriteString(w, e.raw+e.message)
		return
	}
	if c.service == Registry && e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=\"https://%s/v2/token\",service=%q", c.http.Host, c.http.Host))
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(e.status)
	_ = json.NewEncoder(w).Encode(c.errorBody(e))
}

func (c *call) errorBody(e *apiError) any {
	switch {
	case c.service == STS && e.status == http.StatusBadRequest:
		return map[string]string{"error": e.code, "error_description": e.message}
	case c.service == Registry:
		return map[string]any{"errors": []map[string]string{{"code": e.code, "message": e.message}}}
	}
	body := map[string]any{"code": e.status, "message": e.message, "status": e.code}
	if len(e.details) > 0 {
		body["details"] = e.details
	}
	return map[string]any{"error": body}
}
