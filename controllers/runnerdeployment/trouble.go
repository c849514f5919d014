// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"errors"
	"fmt"
	"time"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/github"
)

// When GitHub is asked again after it could not be.
const (
	retryCredentials = 15 * time.Second
	retryDenied      = time.Minute
	retryUnreachable = 15 * time.Second
)

// trouble is why GitHub cannot be asked, or why a runner could not be made.
type trouble struct {
	// reason is the condition's, and the metric's label.
	reason  string
	message string
	// until is when it is worth another try.
	until time.Time
}

// githubTrouble says what an error of GitHub means for the deployment.
func githubTrouble(err error, now time.Time) *trouble {
	if limited, ok := errors.AsType[*github.RateLimited](err); ok {
		return &trouble{
			reason: v1alpha1.ReasonGitHubLimited, until: limited.Until,
			message: fmt.Sprintf("GitHub takes no more requests of these credentials until %s", limited.Until.UTC().Format(time.RFC3339)),
		}
	}
	if denied, ok := errors.AsType[*github.Denied](err); ok {
		return &trouble{reason: v1alpha1.ReasonGitHubDenied, message: denied.Error(), until: now.Add(retryDenied)}
	}
	return &trouble{reason: v1alpha1.ReasonGitHubDown, message: err.Error(), until: now.Add(retryUnreachable)}
}
