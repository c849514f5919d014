// SPDX-License-Identifier: Apache-2.0

package github

import (
	"fmt"
	"net/http"
	"strings"
)

// mend says in one sentence what ends a refusal.
func (c *Client) mend(status int, h http.Header) string {
	isApp := c.account.credentials.app != nil
	switch {
	case status == http.StatusUnauthorized && isApp:
		return "the installation token was not accepted; a new one is asked for at the next call"
	case status == http.StatusUnauthorized:
		return KeyToken + " is wrong, expired or revoked: put a valid one into the Secret"
	case strings.HasPrefix(h.Get("X-GitHub-SSO"), "required"):
		return fmt.Sprintf("authorise %s for the single sign-on of %s", KeyToken, c.scope)
	}
	right := tokenRight(c.scope)
	if isApp {
		right = appRight(c.scope)
	}
	if status == http.StatusNotFound {
		return fmt.Sprintf("check that %s exists and is spelled so, and %s", c.scope, right)
	}
	return right
}

func tokenRight(s Scope) string {
	switch {
	case s.Enterprise != "":
		return "give the token the scope manage_runners:enterprise"
	case s.Organization != "":
		return "give the token the scope admin:org (fine-grained: the organisation permission 'Self-hosted runners: write')"
	}
	return "give the token the scope repo and its owner the admin role there (fine-grained: the repository permission 'Administration: write')"
}

func appRight(s Scope) string {
	switch {
	case s.Enterprise != "":
		return "give the App the enterprise permission 'Self-hosted runners: write', or use a token with the scope manage_runners:enterprise"
	case s.Organization != "":
		return "give the App the organisation permission 'Self-hosted runners: write', accept it, and install the App there"
	}
	return "give the App the repository permission 'Administration: write', accept it, and install the App on that repository"
}

// mend says what ends the refusal of an installation token, nothing if time does.
func (a *app) mend(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return fmt.Sprintf("%s is not a key of the App %d (%s), or this machine's clock is wrong", KeyPrivateKey, a.id, KeyAppID)
	case http.StatusForbidden:
		return fmt.Sprintf("the installation %d (%s) is suspended or may not be used: unsuspend it", a.installation, KeyInstallationID)
	case http.StatusNotFound:
		return fmt.Sprintf("there is no App %d (%s) with an installation %d: %s is the number at the end of the installation's URL",
			a.id, KeyAppID, a.installation, KeyInstallationID)
	}
	return ""
}
