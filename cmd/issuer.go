// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"encoding/json"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

// discoverIssuer asks the API server who issues ServiceAccount tokens. A cluster that does not say is no error: an
// IdentityProvider may, and only trust policies and probes need to know.
func discoverIssuer(ctx context.Context, config *rest.Config) string {
	client, err := rest.UnversionedRESTClientFor(withCodec(config))
	if err != nil {
		ctrl.Log.Info("the cluster's issuer is not known", "reason", err.Error())
		return ""
	}
	raw, err := client.Get().AbsPath("/.well-known/openid-configuration").DoRaw(ctx)
	var document struct {
		Issuer string `json:"issuer"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &document)
	}
	if err != nil {
		ctrl.Log.Info("the cluster's issuer is not known", "reason", err.Error())
	}
	return document.Issuer
}

// withCodec makes a config fit for a client that reads raw answers only.
func withCodec(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.NegotiatedSerializer = clientgoscheme.Codecs.WithoutConversion()
	return c
}
