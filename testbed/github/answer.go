// SPDX-License-Identifier: Apache-2.0

package github

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const documentation = "https://docs.github.com/rest"

// answer is an answer before it is written.
type answer struct {
	status int
	body   any // JSON; a string is written as it is
	header http.Header
}

// refusal is the body of GitHub's errors.
type refusal struct {
	Message          string `json:"message"`
	DocumentationURL string `json:"documentation_url"`
	Status           string `json:"status"`
}

func refuse(status int, message string) answer {
	return answer{status: status, body: refusal{Message: message, DocumentationURL: documentation, Status: strconv.Itoa(status)}}
}

func notFound() answer { return refuse(http.StatusNotFound, "Not Found") }

func unauthorized() answer { return refuse(http.StatusUnauthorized, "Bad credentials") }

func forbidden(a *account) answer {
	if a.app {
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
}

func rateLimited(reset time.Time) answer {
	return refuse(http.StatusForbidden, "API rate limit exceeded for user ID 1.").with(http.Header{
		"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {strconv.FormatInt(reset.Unix(), 10)},
	})
}

// moved is GitHub's redirect of a scope that was renamed: 301 for reads, 307, which keeps method and body, for the rest.
func moved(r *http.Request, scope, to string) answer {
	status := http.StatusTemporaryRedirect
	if r.Method == http.MethodGet {
		status = http.StatusMovedPermanently
	}
	target := *r.URL
	target.Path = strings.Replace(target.Path, scope, to, 1)
	return refuse(status, "Moved Permanently").with(http.Header{"Location": {target.String()}})
}

// with adds headers where there are none of that name.
func (a answer) with(h http.Header) answer {
	h = maps.Clone(h)
	maps.Copy(h, a.header)
	a.header = h
	return a
}

// etag is that of a good answer to a read, empty for others.
func (a answer) etag() string {
	if a.status != http.StatusOK {
		return ""
	}
	sum := sha256.Sum256(a.bytes())
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
}

func (a answer) bytes() []byte {
	switch body := a.body.(type) {
	case nil:
		return nil
	case string:
		return []byte(body)
	default:
		b, err := json.Marshal(body)
		if err != nil {
			return []byte(err.Error()) // all bodies are our own plain structs
		}
		return b
	}
}

func (a answer) write(w http.ResponseWriter, now time.Time) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Date", now.UTC().Format(http.TimeFormat))
	maps.Copy(h, a.header)
	if etag := a.etag(); etag != "" {
		h.Set("ETag", etag)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.bytes())
}
