// SPDX-License-Identifier: Apache-2.0

package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v88/github"
)

// explain turns what went wrong in a call into an error of this package.
func (c *Client) explain(k call, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*gh.RateLimitError](err); ok {
		return c.account.limits.refused(k.operation, e.Response.Header)
	}
	if e, ok := errors.AsType[*gh.AbuseRateLimitError](err); ok {
		return c.account.limits.refused(k.operation, e.Response.Header)
	}
	if e, ok := errors.AsType[*ghinstallation.HTTPError](err); ok && e.Response != nil {
		return c.explainInstallation(k, e.Response)
	}
	if e, ok := errors.AsType[*gh.ErrorResponse](err); ok {
		return c.explainAnswer(k, e)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("GitHub did not answer within %s: %w", c.options.timeout, context.DeadlineExceeded)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("call %s: %w", c.account.api.BaseURL(), e.Err)
	}
	return err
}

func (c *Client) explainAnswer(k call, e *gh.ErrorResponse) error {
	status, said := e.Response.StatusCode, clean(e)
	switch {
	case status == http.StatusNotModified:
		return errNotModified
	case rateRefused(e.Response):
		return c.account.limits.refused(k.operation, e.Response.Header)
	case status == http.StatusConflict && k.operation == opRegister:
		return ErrNameTaken
	case status == http.StatusUnprocessableEntity && k.operation == opRemove:
		return ErrBusy
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		c.account.distrust(k, status)
		return &Denied{Status: status, Said: said, Mend: c.mend(status, e.Response.Header)}
	case k.operation == opRegister && (status == http.StatusUnprocessableEntity || status == http.StatusBadRequest):
		return &Denied{Status: status, Said: said, Mend: "change the name, the labels, the group or the work folder of the runner"}
	}
	return fmt.Errorf("GitHub answered %d: %s", status, said)
}

// explainInstallation explains the refusal of an installation token, which comes before the call itself.
func (c *Client) explainInstallation(k call, resp *http.Response) error {
	defer resp.Body.Close() // ghinstallation leaves it open, and with it the connection
	var body gh.ErrorResponse
	body.Response = resp
	_ = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&body) // a body that is not JSON has nothing to say
	if rateRefused(resp) || resp.StatusCode == http.StatusForbidden && resp.Header.Get("X-RateLimit-Remaining") == "0" {
		return c.account.limits.refused(k.operation, resp.Header)
	}
	if mend := c.account.credentials.app.mend(resp.StatusCode); mend != "" {
		return &Denied{Status: resp.StatusCode, Said: clean(&body), Mend: mend}
	}
	return fmt.Errorf("GitHub answered %d to the request for an installation token: %s", resp.StatusCode, clean(&body))
}

// rateRefused recognises a secondary limit that go-github does not, because the answer has no link to its documentation.
func rateRefused(r *http.Response) bool {
	return r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusForbidden && r.Header.Get("Retry-After") != ""
}

// clean is GitHub's message, bounded, on one line, and without anything that looks like a GitHub token: a proxy or a
// debugging server may echo the request.
func clean(e *gh.ErrorResponse) string {
	said := cmp.Or(e.Message, http.StatusText(e.Response.StatusCode))
	for _, detail := range e.Errors {
		said += "; " + cmp.Or(detail.Message, detail.Field+" "+detail.Code)
	}
	said = regexp.MustCompile(`gh[a-z]_\w+|github_pat_\w+|ey\w+\.[\w-]+\.[\w-]+`).ReplaceAllString(said, "[redacted]")
	said = regexp.MustCompile(`\s+`).ReplaceAllString(said, " ")
	const most = 300
	if runes := []rune(said); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return said
}

func hasStatus(err error, status int) bool {
	d, ok := errors.AsType[*Denied](err)
	return ok && d.Status == status
}
