// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"maps"
	"net/http"
	"slices"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// A Fault makes calls go wrong.
type Fault = sim.Fault

// The kinds of faults; see those of package sim.
const (
	Throttle     = sim.Throttle
	Broken       = sim.Broken
	Slow         = sim.Slow
	AccessDenied = sim.AccessDenied
	ClockSkew    = sim.ClockSkew
	ErrorCode    = sim.ErrorCode
)

func newFaults() sim.Faults {
	return sim.Faults{
		Services: []string{STS, ECR, ECRPublic, Registry},
		Kinds:    []sim.Kind{Throttle, Broken, Slow, AccessDenied, ClockSkew, ErrorCode},
		Codes:    slices.Sorted(maps.Keys(statuses())),
	}
}

// statuses are the error codes that no check of the simulator gives but AWS does, and their HTTP statuses.
func statuses() map[string]int {
	return map[string]int{
		"IDPCommunicationError": http.StatusBadRequest, "IDPRejectedClaim": http.StatusForbidden,
		"InvalidIdentityToken": http.StatusBadRequest, "PackedPolicyTooLarge": http.StatusBadRequest,
		"MalformedPolicyDocument": http.StatusBadRequest, "RegionDisabledException": http.StatusForbidden,
		// With this status it is the client's fault, and no SDK retries it; kind 500 gives the other.
		"ServerException":             http.StatusBadRequest,
		"UnsupportedCommandException": http.StatusBadRequest, "ExpiredTokenException": http.StatusBadRequest,
		"ServiceUnavailable": http.StatusServiceUnavailable,
	}
}
