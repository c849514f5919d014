// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/identity"
)

const (
	// StartBound is the longest that a runner's start waits for registry logins. A registry that has not answered by then is asked
	// on, while the runner runs; one that refuses is not waited for at all.
	StartBound = 30 * time.Second
	// lookEvery is how often files are compared: the kubelet renews a token of ten minutes two minutes before its end.
	lookEvery = 30 * time.Second
)

// Agent is one run of the agent. All fields but Then have to be set, WorkDir and JobDir if there is something for jobs.
type Agent struct {
	Config    Config
	Providers identity.Set
	// Dir is the directory that the agent shares with the runner.
	Dir string
	// JobDir is where the runner and its jobs' containers look for what is carried.
	JobDir string
	// WorkDir is the runner's work directory. Empty: nothing is carried.
	WorkDir string
	// Then is the operator's own job-started hook, empty if there is none.
	Then  string
	Clock clock.WithTicker
	Log   *slog.Logger
}

// Run works until the context ends, and then takes back what it wrote. An error means that the pod's own volumes cannot be written.
func (a *Agent) Run(ctx context.Context) error {
	shared, err := os.OpenRoot(a.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = shared.Close() }()
	config, err := openDockerConfig(shared)
	if err != nil {
		return err
	}
	carried, err := a.carrier()
	if err != nil {
		return err
	}
	defer carried.close()
	if err := carried.write(); err != nil {
		return fmt.Errorf("files for jobs: %w", err)
	}
	var all sync.WaitGroup
	settled := a.keepLogins(ctx, &all, config)
	all.Go(func() { a.look(ctx, config, carried) })
	a.waitFor(ctx, settled, len(a.Config.Hosts))
	if err := markReady(shared); err != nil {
		return err
	}
	<-ctx.Done()
	all.Wait()
	return a.takeBack(config, carried)
}

// waitFor ends when that many registries have answered, and at StartBound.
func (a *Agent) waitFor(ctx context.Context, settled <-chan string, hosts int) {
	began := a.Clock.Now()
	bound := a.Clock.NewTimer(StartBound)
	defer bound.Stop()
	for range hosts {
		select {
		case <-settled:
		case <-bound.C():
			a.Log.Warn("the runner starts without all of its registry logins, which are tried on", "waited", StartBound.String())
			return
		case <-ctx.Done():
			return
		}
	}
	a.Log.Info("ready", "after", a.Clock.Since(began).String())
}

// look keeps right, while it may, what others can make wrong.
func (a *Agent) look(ctx context.Context, config *dockerConfig, carried *carrier) {
	ticker := a.Clock.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		if err := config.heal(); err != nil {
			a.Log.Warn("registry logins cannot be written", "error", err.Error())
		}
		if err := carried.refresh(); err != nil {
			a.Log.Warn("tokens of jobs cannot be renewed", "error", err.Error())
		}
	}
}

// takeBack leaves no login and no token of ours behind: the volumes may outlive the pod.
func (a *Agent) takeBack(config *dockerConfig, carried *carrier) error {
	if err := config.removeAll(); err != nil {
		return fmt.Errorf("remove registry logins: %w", err)
	}
	if err := carried.remove(); err != nil {
		return fmt.Errorf("remove files of jobs: %w", err)
	}
	a.Log.Info("stopped")
	return nil
}
