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

// FindCluster is the cluster of an API server, which is asked with the config's credentials: for its keys when they are needed,
// and now for its issuer if issuer is empty.
func FindCluster(ctx context.Context, c *rest.Config, issuer string) (Cluster, error) {
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		return Cluster{}, err
	}
	base, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return Cluster{}, err
	}
	host := strings.TrimSuffix(base.String(), "/")
	if issuer == "" {
		if issuer, err = discover(ctx, client, host); err != nil {
			return Cluster{}, err
		}
	}
	return Cluster{Issuer: issuer, JWKS: host + "/openid/v1/jwks", Client: client}, nil
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
