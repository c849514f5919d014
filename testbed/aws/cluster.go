// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

const discoveryTimeout = 10 * time.Second

// ClusterIssuer is the OIDC provider for a cluster's ServiceAccount tokens. Its keys come from the API server itself, asked
// for with the config's credentials. If issuer is empty, the API server is asked what its issuer is.
func ClusterIssuer(ctx context.Context, c *rest.Config, issuer string, clientIDs ...string) (Issuer, error) {
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		return Issuer{}, err
	}
	base, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return Issuer{}, err
	}
	host := strings.TrimSuffix(base.String(), "/")
	if issuer == "" {
		if issuer, err = discover(ctx, client, host); err != nil {
			return Issuer{}, err
		}
	}
	return Issuer{URL: issuer, JWKS: host + "/openid/v1/jwks", ClientIDs: clientIDs, Client: client}, nil
}

func discover(ctx context.Context, client *http.Client, host string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	at := host + "/.well-known/openid-configuration"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	var document struct {
		Issuer string `json:"issuer"`
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("issuer of %s: %s answers %s", host, at, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		return "", fmt.Errorf("issuer of %s: %w", host, err)
	}
	if document.Issuer == "" {
		return "", fmt.Errorf("issuer of %s: %s names none", host, at)
	}
	return document.Issuer, nil
}
