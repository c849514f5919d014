// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/github"
)

// GitHub is what this controller asks of GitHub, with one set of credentials in one scope. github.Client is one.
type GitHub interface {
	Register(context.Context, github.Registration) (github.Runner, error)
	Find(ctx context.Context, name string) (github.Runner, bool, error)
	Status(ctx context.Context, id int64) (github.Runner, bool, error)
	Remove(ctx context.Context, id int64) error
}

// Connect makes a GitHub client from a Secret's data. Its error says what is wrong with the data.
type Connect func(ctx context.Context, data map[string][]byte, scope github.Scope) (GitHub, error)

// recheck is how long a client is used before its Secret is looked at again.
const recheck = time.Minute

// hubs keeps the GitHub clients, so that a Secret is read once a minute at most, and only while there is something to ask.
type hubs struct {
	reader  client.Reader
	connect Connect
	clock   clock.PassiveClock

	mu sync.Mutex
	// all is keyed by Secret and scope.
	all map[hubKey]*hub
}

type hubKey struct {
	secret types.NamespacedName
	scope  github.Scope
}

// A hub is a GitHub client and what is known of its credentials.
type hub struct {
	GitHub
	key     hubKey
	version string
	checked time.Time
	// trouble is why no call is made before its time.
	trouble *trouble
}

// open gives the client for the key. With old, a client whose Secret is gone is still good.
func (h *hubs) open(ctx context.Context, key hubKey, old bool) (*hub, *trouble) {
	h.mu.Lock()
	known := h.all[key]
	h.mu.Unlock()
	now := h.clock.Now()
	if known != nil && known.trouble != nil && known.trouble.until.After(now) {
		return nil, known.trouble
	}
	if known != nil && known.trouble == nil && now.Sub(known.checked) < recheck {
		return known, nil
	}
	opened, problem := h.read(ctx, key, known)
	if problem != nil && problem.reason == v1alpha1.ReasonSecretNotFound && old && known != nil {
		return known, nil
	}
	if problem == nil {
		h.keep(opened)
	}
	return opened, problem
}

// read reads the Secret and makes a client, or takes the known one if the Secret is the same.
func (h *hubs) read(ctx context.Context, key hubKey, known *hub) (*hub, *trouble) {
	if key.secret.Name == "" {
		return nil, h.secretTrouble(v1alpha1.ReasonSecretNotFound, "spec.template.spec.githubAPICredentialsFrom is not set and the controller "+
			"has no credentials of its own; name a Secret of namespace %s in githubAPICredentialsFrom.secretRef", key.secret.Namespace)
	}
	secret := &corev1.Secret{}
	err := h.reader.Get(ctx, key.secret, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, h.secretTrouble(v1alpha1.ReasonSecretNotFound, "Secret %s with the GitHub credentials does not exist; "+
			"create it with github_token, or with github_app_id, github_app_installation_id and github_app_private_key", key.secret)
	case err != nil:
		return nil, h.secretTrouble(v1alpha1.ReasonSecretInvalid, "read Secret %s: %s", key.secret, err)
	}
	if known != nil && known.version == secret.ResourceVersion {
		return &hub{GitHub: known.GitHub, key: key, version: known.version, checked: h.clock.Now()}, nil
	}
	made, err := h.connect(ctx, secret.Data, key.scope)
	if err != nil {
		return nil, h.secretTrouble(v1alpha1.ReasonSecretInvalid, "Secret %s: %s", key.secret, err)
	}
	return &hub{GitHub: made, key: key, version: secret.ResourceVersion, checked: h.clock.Now()}, nil
}

func (h *hubs) secretTrouble(reason, format string, args ...any) *trouble {
	return &trouble{reason: reason, message: fmt.Sprintf(format, args...), until: h.clock.Now().Add(retryCredentials)}
}

// stop keeps a client's trouble, so that no deployment that uses it calls GitHub before its time.
func (h *hubs) stop(of *hub, why *trouble) {
	stopped := *of
	stopped.trouble = why
	h.keep(&stopped)
}

func (h *hubs) keep(one *hub) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[hubKey]*hub{}
	}
	h.all[one.key] = one
}
