// SPDX-License-Identifier: Apache-2.0

package namespacedefaults

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// scrapeTimeout bounds a scrape that comes before the caches are filled.
const scrapeTimeout = time.Second

var selectedNamespaces = prometheus.NewDesc("runner_identity_namespace_defaults",
	"Namespaces that the mappings of a provider select, by whether they have their identity.", []string{"provider", "ready"}, nil)

// metrics are the controller's numbers, read from status: a deleted provider leaves nothing behind.
type metrics struct {
	// reader lists providers. Set by SetupWithManager.
	reader client.Reader
}

var _ prometheus.Collector = (*metrics)(nil)

// Describe tells the registry which metrics there are.
func (*metrics) Describe(ch chan<- *prometheus.Desc) { ch <- selectedNamespaces }

// Collect gives the registry the values.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var list v1alpha1.IdentityProviderList
	if err := m.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	for _, p := range list.Items {
		var selected, ready int32
		for _, s := range p.Status.NamespaceDefaults {
			selected, ready = selected+s.Namespaces, ready+s.Ready
		}
		ch <- prometheus.MustNewConstMetric(selectedNamespaces, prometheus.GaugeValue, float64(ready), p.Name, "true")
		ch <- prometheus.MustNewConstMetric(selectedNamespaces, prometheus.GaugeValue, float64(selected-ready), p.Name, "false")
	}
}
