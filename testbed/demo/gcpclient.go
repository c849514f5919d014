// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/oauth2"
	"google.golang.org/api/iamcredentials/v1"
	"google.golang.org/api/option"
	"google.golang.org/api/sts/v1"

	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
)

const (
	// gcpUser goes with an access token at every registry of Google.
	gcpUser  = "oauth2accesstoken"
	gcpScope = "https://www.googleapis.com/auth/cloud-platform"
)

// gcpCredentials is the file that tells Google's clients in the pod how to trade its token.
type gcpCredentials struct {
	Audience         string `json:"audience"`
	SubjectTokenType string `json:"subject_token_type"`
	TokenURL         string `json:"token_url"`
	ImpersonationURL string `json:"service_account_impersonation_url"`
}

// gcpCredentialsOf reads the file where the pod's variable says that it is.
func gcpCredentialsOf(p *workload) (gcpCredentials, error) {
	var c gcpCredentials
	path := p.env("GOOGLE_APPLICATION_CREDENTIALS")
	content, ok := p.files("")[path]
	if !ok {
		return c, fmt.Errorf("pod %s has no file %q, where GOOGLE_APPLICATION_CREDENTIALS points", p.Name, path)
	}
	return c, json.Unmarshal([]byte(content), &c)
}

// federate trades a ServiceAccount's token at STS.
func (c gcpCredentials) federate(ctx context.Context, token string) (*sts.GoogleIdentityStsV1ExchangeTokenResponse, error) {
	service, err := sts.NewService(ctx, option.WithEndpoint(strings.TrimSuffix(c.TokenURL, "v1/token")), option.WithoutAuthentication())
	if err != nil {
		return nil, err
	}
	return service.V1.Token(&sts.GoogleIdentityStsV1ExchangeTokenRequest{
		Audience:           c.Audience,
		GrantType:          "urn:ietf:params:oauth:grant-type:token-exchange",
		RequestedTokenType: "urn:ietf:params:oauth:token-type:access_token",
		Scope:              gcpScope,
		SubjectToken:       token,
		SubjectTokenType:   c.SubjectTokenType,
	}).Context(ctx).Do()
}

// impersonate trades a federated token for one of the Google service account.
func (c gcpCredentials) impersonate(ctx context.Context, federated string) (*iamcredentials.GenerateAccessTokenResponse, error) {
	base, account, _ := strings.Cut(c.ImpersonationURL, "v1/")
	service, err := iamcredentials.NewService(ctx, option.WithEndpoint(base),
		option.WithTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: federated})))
	if err != nil {
		return nil, err
	}
	request := &iamcredentials.GenerateAccessTokenRequest{Scope: []string{gcpScope}}
	return service.Projects.ServiceAccounts.GenerateAccessToken(strings.TrimSuffix(account, ":generateAccessToken"), request).Context(ctx).Do()
}

// bearer is who an access token is for, as the simulator knows.
func (g *gcpCloud) bearer(access string) (string, error) {
	host, _, _ := strings.Cut(g.image, "/")
	return g.server.Verify(gcpUser, access, gcpsim.Scope{Host: host})
}

// gcpAnswer is a registry's answer to a login.
type gcpAnswer struct {
	asked     string
	status    int
	refusal   string
	ExpiresIn int `json:"expires_in"`
	Errors    []struct{ Message string }
}

// registry asks for a pull of the image with an access token as the password, as docker does.
func (g *gcpCloud) registry(ctx context.Context, access string) (gcpAnswer, error) {
	host, path, _ := strings.Cut(g.image, "/")
	query := "/v2/token?service=" + host + "&scope=repository:" + path + ":pull"
	a := gcpAnswer{asked: "https://" + host + query}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.url+query, nil)
	if err != nil {
		return a, err
	}
	req.Host = host
	req.SetBasicAuth(gcpUser, access)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.status = resp.StatusCode
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return a, fmt.Errorf("%s: HTTP %d: %w", a.asked, a.status, err)
	}
	for _, e := range a.Errors {
		a.refusal = e.Message
	}
	return a, nil
}
