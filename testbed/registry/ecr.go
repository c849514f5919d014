// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

// ECR is the registries of a simulated AWS: 111122223333.dkr.ecr.eu-west-1.amazonaws.com and the like. A client sends its login
// with each request.
func ECR(s *aws.Server) *Registry { return newRegistry(ecr{s}) }

type ecr struct{ *aws.Server }

var _ cloud = ecr{}

func (e ecr) admit(r *http.Request, a access) (string, *refusal) {
	challenge := fmt.Sprintf(`Basic realm="https://%s/",service="ecr.amazonaws.com"`, r.Host)
	user, password, ok := r.BasicAuth()
	if !ok {
		return "", &refusal{http.StatusUnauthorized, "UNAUTHORIZED", "no basic auth credentials", challenge}
	}
	account, _, err := e.Verify(user, password, a.host)
	switch {
	case err == nil:
		return account, nil
	case errors.Is(err, aws.ErrExpiredLogin):
		return "", &refusal{http.StatusForbidden, "DENIED", "Your authorization token has expired. Reauthenticate and try again.", ""}
	case errors.Is(err, aws.ErrUnknownLogin):
		return "", &refusal{http.StatusUnauthorized, "UNAUTHORIZED", "Not Authorized", challenge}
	case errors.Is(err, aws.ErrForeignRegistry):
		return "", &refusal{http.StatusForbidden, "DENIED", "not authorized to perform: ecr:BatchGetImage on resource: " + a.path, ""}
	}
	return "", &refusal{http.StatusNotFound, "NAME_UNKNOWN", err.Error(), ""}
}
