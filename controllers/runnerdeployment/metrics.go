// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// States of runners in the gauge.
const (
	statePending = "pending"
	stateRunning = "running"
	stateLeaving = "leaving"
)

// Metrics are this controller's. Names of runners and deployments are no labels: their number has no bound.
type Metrics struct {
	runners *prometheus.GaugeVec
	created prometheus.Counter
	over    *prometheus.CounterVec
	github  *prometheus.CounterVec
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := newMetrics()
	for _, one := range []prometheus.Collector{m.runners, m.created, m.over, m.github} {
		if err := registry.Register(one); err != nil {
			return nil, fmt.Errorf("register metrics of runner deployments: %w", err)
		}
	}
	return m, nil
}

func newMetrics() *Metrics {
	return &Metrics{
		runners: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "runner_identity_runners", Help: "Runners by state: pending, running, leaving.",
		}, []string{"state"}),
		created: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "runner_identity_runners_created_total", Help: "Runners registered at GitHub and given a pod.",
		}),
		over: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "runner_identity_runners_ended_total",
			Help: "Runners that came to their end, by result: succeeded, failed, lost, expired, retired.",
		}, []string{"result"}),
		github: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "runner_identity_github_troubles_total", Help: "Times that GitHub could not be asked about runners, by condition reason.",
		}, []string{"reason"}),
	}
}

func (m *Metrics) made(n int) { m.created.Add(float64(n)) }

func (m *Metrics) ended(how outcome) { m.over.WithLabelValues(string(how)).Inc() }

func (m *Metrics) trouble(reason string) { m.github.WithLabelValues(reason).Inc() }

// count replaces what the gauge has of one deployment.
func (m *Metrics) count(of *memory, now map[string]int) {
	for _, state := range []string{statePending, stateRunning, stateLeaving} {
		m.runners.WithLabelValues(state).Add(float64(now[state] - of.counted[state]))
	}
	of.counted = now
}

// states counts a deployment's runners by state.
func (s *scope) states() map[string]int {
	counts := map[string]int{}
	for _, r := range s.runners {
		switch {
		case r.record.leaving:
			counts[stateLeaving]++
		case r.running():
			counts[stateRunning]++
		default:
			counts[statePending]++
		}
	}
	return counts
}
