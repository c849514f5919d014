// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/http"
)

// An apiError is an error as AWS words it. It never holds what a client sent as a secret.
type apiError struct {
	status        int
	code, message string
}

// Error is the code and the message.
func (e *apiError) Error() string { return e.code + ": " + e.message }

func refuse(status int, code, format string, a ...any) error {
	return &apiError{status: status, code: code, message: fmt.Sprintf(format, a...)}
}

func validation(format string, a ...any) error {
	return refuse(http.StatusBadRequest, "ValidationError", format, a...)
}

func invalidToken(message string) error {
	return refuse(http.StatusBadRequest, "InvalidIdentityToken", "%s", message)
}

// refuse is an error that STS and the JSON services code differently. STS answers 403, the JSON services 400.
func (c *call) refuse(stsCode, jsonCode, format string, a ...any) error {
	if c.service == STS {
		return refuse(http.StatusForbidden, stsCode, format, a...)
	}
	return refuse(http.StatusBadRequest, jsonCode, format, a...)
}

func (c *call) unauthenticated() error {
	if c.service == STS {
		return c.refuse("MissingAuthenticationToken", "", "Request is missing Authentication Token")
	}
	return c.refuse("", "MissingAuthenticationTokenException", "Missing Authentication Token")
}

func (c *call) unrecognized() error {
	return c.refuse("InvalidClientTokenId", "UnrecognizedClientException", "The security token included in the request is invalid.")
}

func (c *call) expired() error {
	return c.refuse("ExpiredToken", "ExpiredTokenException", "The security token included in the request is expired")
}

func (c *call) badSignature(format string, a ...any) error {
	return c.refuse("SignatureDoesNotMatch", "InvalidSignatureException", format, a...)
}

func (c *call) denied(format string, a ...any) error {
	return c.refuse("AccessDenied", "AccessDeniedException", format, a...)
}

func (c *call) unknownAction() error {
	if c.service == STS {
		return refuse(http.StatusBadRequest, "InvalidAction", "Could not find operation %s for version %s", c.action, c.form.Get("Version"))
	}
	return refuse(http.StatusBadRequest, "UnknownOperationException", "")
}
