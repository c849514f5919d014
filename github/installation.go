// SPDX-License-Identifier: Apache-2.0

package github

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"k8s.io/utils/clock"
)

// renewPause is how long a new App token is given before it is distrusted in turn: a hundred refused calls ask for one new token.
const renewPause = time.Minute

// installation is the transport of an App's installation: it gets tokens, keeps them until a minute before their end, and
// drops one that was refused.
type installation struct {
	credentials Credentials
	clock       clock.PassiveClock
	next        http.RoundTripper

	mu      sync.Mutex
	current *ghinstallation.Transport
	since   time.Time
}

func newInstallation(c Credentials, clock clock.PassiveClock, next http.RoundTripper) *installation {
	i := &installation{credentials: c, clock: clock, next: next}
	i.reset()
	return i
}

// RoundTrip sends the request with a token of the installation.
func (i *installation) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	current := i.current
	i.mu.Unlock()
	return current.RoundTrip(r)
}

// renew makes the next request get a new token.
func (i *installation) renew() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.clock.Since(i.since) >= renewPause {
		i.reset()
	}
}

func (i *installation) reset() {
	app := i.credentials.app
	// One AppsTransport each: ghinstallation writes to it without a lock.
	apps := ghinstallation.NewAppsTransportFromPrivateKey(i.next, app.id, app.key)
	apps.BaseURL = strings.TrimSuffix(i.credentials.api, "/")
	i.current, i.since = ghinstallation.NewFromAppsTransport(apps, app.installation), i.clock.Now()
}
