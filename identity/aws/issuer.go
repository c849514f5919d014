// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/token"
)

const (
	// issuerTimeout is as long as AWS waits for an issuer.
	issuerTimeout = 5 * time.Second
	// maxIssuerBody bounds what is read of an issuer's answer.
	maxIssuerBody = 1 << 20
)

// unreachableError is why an issuer could not be looked at from here.
type unreachableError struct{ why string }

func (e unreachableError) Error() string { return e.why }

// checkIssuer reads the discovery document and the keys as AWS would.
func (p *Provider) checkIssuer(ctx context.Context, c token.Claims) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, issuerTimeout)
	defer cancel()
	err := p.matchIssuer(ctx, c)
	if away, ok := errors.AsType[unreachableError](err); ok {
		return fmt.Sprintf("%s is not reachable from here (%s); AWS has to be able to read it over the internet within 5 seconds", c.Issuer, away.why), nil
	}
	if err != nil {
		return "", identity.Errorf(identity.Denied, "%w", err)
	}
	return fmt.Sprintf("%s is reachable from here and has the token's key", c.Issuer), nil
}

// matchIssuer compares what an issuer says about itself with the token.
func (p *Provider) matchIssuer(ctx context.Context, c token.Claims) error {
	var discovery struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	at := strings.TrimSuffix(c.Issuer, "/") + "/.well-known/openid-configuration"
	if err := p.readJSON(ctx, at, &discovery); err != nil {
		return err
	}
	if discovery.Issuer != c.Issuer {
		return fmt.Errorf("%s says that its issuer is %q, and the token says %q: they have to be equal byte for byte", at, discovery.Issuer, c.Issuer)
	}
	if u, err := url.Parse(discovery.Keys); err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s has jwks_uri %q, which is not an https URL", at, discovery.Keys)
	}
	var keys struct {
		Keys []struct {
			ID string `json:"kid"`
		} `json:"keys"`
	}
	if err := p.readJSON(ctx, discovery.Keys, &keys); err != nil {
		return err
	}
	for _, k := range keys.Keys {
		if k.ID == c.KeyID {
			return nil
		}
	}
	return fmt.Errorf("%s does not have key %q, with which the token is signed: publish the cluster's present keys there", discovery.Keys, c.KeyID)
}

// readJSON reads a JSON document without credentials, as AWS does.
func (p *Provider) readJSON(ctx context.Context, at string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return fmt.Errorf("%q is not a URL", at)
	}
	res, err := p.client.Do(req)
	if err != nil {
		why := err
		if u, ok := errors.AsType[*url.Error](err); ok {
			why = u.Err
		}
		return unreachableError{why.Error()}
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return unreachableError{fmt.Sprintf("%s answers HTTP %d", at, res.StatusCode)}
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxIssuerBody))
	if err != nil {
		return unreachableError{"its answer broke off"}
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s answers something that is not the JSON it should be", at)
	}
	return nil
}
