// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/pace"
)

// loginTimeout bounds one login, whatever the provider does.
const loginTimeout = 20 * time.Second

// keepLogins logs in to each registry on its own, so that a slow one delays no other. The channel gets each host once: when its
// registry has answered, be it with a refusal.
func (a *Agent) keepLogins(ctx context.Context, all *sync.WaitGroup, config *dockerConfig) <-chan string {
	settled := make(chan string, len(a.Config.Hosts))
	if len(a.Config.Hosts) == 0 {
		return settled
	}
	provider, err := a.provider()
	if err != nil {
		a.Log.Error("no registry login", "error", err.Error())
	}
	for _, host := range a.Config.Hosts {
		if err != nil {
			settled <- host
			continue
		}
		h := &hostLogin{agent: a, provider: provider, config: config, host: host, settled: sync.OnceFunc(func() { settled <- host })}
		all.Go(func() { h.keep(ctx) })
	}
	return settled
}

// provider is the plug-in, if it can log in.
func (a *Agent) provider() (identity.RegistryLogin, error) {
	p, err := a.Providers.Provider(a.Config.Provider)
	if err != nil {
		return nil, err
	}
	login, ok := identity.As[identity.RegistryLogin](p)
	if !ok {
		return nil, identity.Errorf(identity.Invalid, "provider %s logs in to no registry", p.Name())
	}
	return login, nil
}

// hostLogin is the login to one registry.
type hostLogin struct {
	agent    *Agent
	provider identity.RegistryLogin
	config   *dockerConfig
	host     string
	settled  func()

	// failures are those since the last login, expires is that login's end.
	failures int
	expires  time.Time
}

// keep logs in again and again until the context ends, or until no attempt can help.
func (h *hostLogin) keep(ctx context.Context) {
	for {
		at := h.once(ctx)
		if ctx.Err() != nil || at.IsZero() {
			return
		}
		timer := h.agent.Clock.NewTimer(at.Sub(h.agent.Clock.Now()))
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// once logs in, and says when it has to be done again; never if that is zero.
func (h *hostLogin) once(ctx context.Context) time.Time {
	login, err := h.login(ctx)
	now := h.agent.Clock.Now()
	switch {
	case ctx.Err() != nil:
		return time.Time{}
	case err != nil:
		return h.failed(err, now)
	}
	h.failures, h.expires = 0, login.Expires
	next := pace.RenewAt(now, login.Expires)
	kept, err := h.config.set(h.host, login)
	switch {
	case err != nil:
		h.agent.Log.Warn("registry login cannot be written; tried on", "host", h.host, "error", err.Error())
	case kept:
		h.agent.Log.Info("the job has a login of its own, which is kept", "host", h.host)
	default:
		h.agent.Log.Info("logged in", "host", h.host, "expires", login.Expires.UTC(), "renewed", next.UTC())
	}
	h.settled()
	return next
}

func (h *hostLogin) login(ctx context.Context) (identity.Credential, error) {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	token, err := os.ReadFile(h.agent.Config.Token)
	if err != nil {
		return identity.Credential{}, identity.Errorf(identity.Unreachable, "the pod's token: %w", err)
	}
	return h.provider.Login(ctx, h.host, identity.NewSecret(strings.TrimSpace(string(token))), h.agent.Config.Request)
}

// failed says when to try again. What time alone mends is worth waiting for before the runner starts; a refusal is not. A login that
// has ended is taken out: registries refuse it even where they need none.
func (h *hostLogin) failed(err error, now time.Time) time.Time {
	h.failures++
	reason := identity.ReasonOf(err)
	next := pace.RetryAt(err, h.failures, now)
	h.agent.Log.Warn("no registry login", "host", h.host, "reason", string(reason), "error", err.Error(), "failures", h.failures)
	if reason != identity.Unreachable {
		h.settled()
	}
	if h.expires.IsZero() {
		return next
	}
	if h.expires.After(now) {
		if next.IsZero() || h.expires.Before(next) {
			return h.expires
		}
		return next
	}
	h.expires = time.Time{}
	if err := h.config.remove(h.host); err != nil {
		h.agent.Log.Warn("an ended registry login cannot be removed; tried on", "host", h.host, "error", err.Error())
	}
	return next
}
