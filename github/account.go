// SPDX-License-Identifier: Apache-2.0

package github

import (
	"errors"
	"net/http"

	gh "github.com/google/go-github/v88/github"
)

// account is what all clients with the same credentials share: GitHub's budgets, the App's token, the connections.
type account struct {
	credentials  Credentials
	api          *gh.Client
	limits       *limits
	installation *installation // nil with a token
}

func newAccount(c Credentials, o options) (*account, error) {
	a := &account{credentials: c, limits: newLimits(o.clock)}
	transport := userAgent(o.transport)
	switch {
	case c.app != nil:
		a.installation = newInstallation(c, o.clock, transport)
		transport = a.installation
	case !c.token.IsZero():
		transport = bearer{token: c.token, next: transport}
	default:
		return nil, errors.New("no GitHub credentials")
	}
	var err error
	a.api, err = gh.NewClient(
		gh.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: sameServer}),
		gh.WithURLs(&c.api, nil),
		gh.WithUserAgent(agent),
		gh.WithDisableRateLimitCheck(), // ours knows the budgets apart and has the clock injected
	)
	return a, err
}

// distrust drops the App's token after a refusal: a token keeps the permissions that it was made with, so that without this
// a permission that was granted would take up to an hour to show.
func (a *account) distrust(k call, status int) {
	gone := status == http.StatusNotFound && (k.operation == opRemove || k.operation == opStatus)
	if a.installation != nil && !gone {
		a.installation.renew()
	}
}

// sameServer follows a redirect, as for a repository that was renamed, if the call stays what it was. The transports add the
// credentials to every request: on another server they would be given away.
func sameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme || req.Method != first.Method {
		return errors.New("redirected too often, to another server or to another method")
	}
	return nil
}
