// SPDX-License-Identifier: Apache-2.0

package runneridentity

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// scrapeTimeout bounds a scrape that comes before the caches are filled.
const scrapeTimeout = time.Second

// metrics are the controller's numbers. Labels are bounded: provider is the name of a provider that resolved, reason that of a
// condition. The zero value is ready.
type metrics struct {
	once      sync.Once
	logins    *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	exchanges *prometheus.CounterVec
	expiry    *prometheus.Desc
	// reader lists identities for the expiry. Set by SetupWithManager.
	reader client.Reader
}

var _ prometheus.Collector = (*metrics)(nil)

func (m *metrics) loggedIn(provider, reason string, took time.Duration) {
	m.prepare()
	m.logins.WithLabelValues(provider, reason).Inc()
	m.duration.WithLabelValues(provider).Observe(took.Seconds())
}

func (m *metrics) exchanged(provider, reason string) {
	m.prepare()
	m.exchanges.WithLabelValues(provider, reason).Inc()
}

func (m *metrics) prepare() {
	m.once.Do(func() {
		m.expiry = prometheus.NewDesc("runner_identity_login_expiry_timestamp_seconds",
			"When the first registry login of a provider expires, as Unix time.", []string{"provider"}, nil)
		m.logins = prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "runner_identity_logins_total", Help: "Registry logins tried, by what came of them.",
		}, []string{"provider", "reason"})
		m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "runner_identity_login_duration_seconds", Help: "How long registry logins took, exchange included.",
			Buckets: prometheus.ExponentialBuckets(0.05, 2, 10),
		}, []string{"provider"})
		m.exchanges = prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "runner_identity_exchanges_total", Help: "Tokens traded to verify a principal, by what came of it.",
		}, []string{"provider", "reason"})
	})
}

// Describe tells the registry which metrics there are.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	m.prepare()
	m.logins.Describe(ch)
	m.duration.Describe(ch)
	m.exchanges.Describe(ch)
	ch <- m.expiry
}

// Collect gives the registry the values.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	m.prepare()
	m.logins.Collect(ch)
	m.duration.Collect(ch)
	m.exchanges.Collect(ch)
	for provider, first := range m.expiries() {
		ch <- prometheus.MustNewConstMetric(m.expiry, prometheus.GaugeValue, float64(first.Unix()), provider)
	}
}

// expiries are the first expiries, by provider, as status has them: a deleted identity leaves nothing behind.
func (m *metrics) expiries() map[string]time.Time {
	first := map[string]time.Time{}
	if m.reader == nil {
		return first
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var list v1alpha1.RunnerIdentityList
	if err := m.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return first
	}
	for _, ri := range list.Items {
		at, known := ri.Status.LoginExpiresAt, first[ri.Spec.IdentityProvider]
		if at != nil && (known.IsZero() || at.Time.Before(known)) {
			first[ri.Spec.IdentityProvider] = at.Time
		}
	}
	return first
}
