// SPDX-License-Identifier: Apache-2.0

// Package registry is a private registry as ECR and Artifact Registry are to a client: it takes only logins that the simulated
// cloud issued, that have not expired, and that the image's account or repository lets in. Each host has images of its own.
package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	store "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// Actions in Calls.
const (
	Pull = "Pull"
	Push = "Push"
)

// A Registry is the http.Handler of all of one cloud's registry hosts: a request's Host says which one it is for.
type Registry struct {
	// Calls are the requests for manifests, by host: one for each pull and push, and one for each that was refused.
	Calls sim.Calls

	cloud cloud

	mu     sync.Mutex
	stores map[string]http.Handler // by host
}

// A cloud knows its logins.
type cloud interface {
	// ServeHTTP answers GET /v2/ and what else a login needs.
	http.Handler
	// admit returns who asks, or why not.
	admit(r *http.Request, a access) (who string, err *refusal)
}

func newRegistry(c cloud) *Registry { return &Registry{cloud: c, stores: map[string]http.Handler{}} }

// An access is what a request wants.
type access struct {
	host, path string
	push       bool
}

// A refusal is a registry's answer to who is not let in.
type refusal struct {
	status        int
	code, message string
	challenge     string
}

// ServeHTTP answers one request.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a, ok := accessOf(req)
	if !ok {
		r.cloud.ServeHTTP(w, req)
		return
	}
	who, refused := r.cloud.admit(req, a)
	r.record(req, a, who, refused)
	if refused != nil {
		refused.write(w)
		return
	}
	r.store(a.host).ServeHTTP(w, req)
}

// Put puts an image into the registry as its owner, who needs no login.
func (r *Registry) Put(ctx context.Context, ref string, img v1.Image) error {
	tag, err := name.ParseReference(ref)
	if err != nil {
		return err
	}
	return remote.Write(tag, img, remote.WithContext(ctx), remote.WithTransport(direct{r.store(tag.Context().RegistryStr())}))
}

// Transport reaches the registry without a network, under any host name.
func (r *Registry) Transport() http.RoundTripper { return direct{r} }

func (r *Registry) store(host string) http.Handler {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stores[host] == nil {
		r.stores[host] = store.New(store.Logger(log.New(io.Discard, "", 0)))
	}
	return r.stores[host]
}

func (r *Registry) record(req *http.Request, a access, who string, refused *refusal) {
	if !strings.Contains(req.URL.Path, "/manifests/") {
		return
	}
	c := sim.Call{Time: time.Now(), Service: a.host, Action: Pull, Principal: who, Outcome: sim.OK}
	if a.push {
		c.Action = Push
	}
	if refused != nil {
		c.Outcome, c.Reason = refused.code, refused.message
	}
	r.Calls.Add(c)
}

// accessOf is what a request wants of which image: of none, if it is about the login.
func accessOf(r *http.Request) (access, bool) {
	path, ok := strings.CutPrefix(r.URL.Path, "/v2/")
	if !ok {
		return access{}, false
	}
	host := r.Host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	for _, kind := range []string{"/manifests/", "/blobs/", "/tags/", "/referrers/"} {
		if i := strings.LastIndex(path, kind); i > 0 {
			return access{host: host, path: path[:i], push: r.Method != http.MethodGet && r.Method != http.MethodHead}, true
		}
	}
	return access{}, false
}

func (r *refusal) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Docker-Distribution-Api-Version", "registry/2.0")
	h.Set("Content-Type", "application/json")
	if r.challenge != "" {
		h.Set("WWW-Authenticate", r.challenge)
	}
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": r.code, "message": r.message}}})
}

// direct asks a handler without a network.
type direct struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = cmp.Or(r.Host, r.URL.Host)
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	answer := w.Result()
	answer.Request = r
	return answer, nil
}
