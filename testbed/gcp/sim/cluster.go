// SPDX-License-Identifier: Apache-2.0

package sim

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

// A Cluster is a cluster as an issuer of ServiceAccount tokens.
type Cluster struct {
	// Issuer is the issuer that tokens name.
	Issuer string
	// JWKS is where the API server has the issuer's keys; Client reaches it.
	JWKS   string
	Client *http.Client
}

// FindCluster asks an API server for its issuer and keys, with the config's credentials.
func FindCluster(ctx context.Context, c *rest.Config) (Cluster, error) {
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		return Cluster{}, err
	}
	base, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return Cluster{}, err
	}
	host := strings.TrimSuffix(base.String(), "/")
	issuer, err := discover(ctx, client, host)
	return Cluster{Issuer: issuer, JWKS: host + "/openid/v1/jwks", Client: client}, err
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
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil || document.Issuer == "" {
		return "", fmt.Errorf("issuer of %s: %s answers %s and names none", host, at, response.Status)
	}
	return document.Issuer, nil
}
