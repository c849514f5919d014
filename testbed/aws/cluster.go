// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/runner-identity/runner-identity/testbed/sim"
)

// ClusterIssuer is the OIDC provider for a cluster's ServiceAccount tokens. Its keys come from the API server itself, asked
// for with the config's credentials. If issuer is empty, the API server is asked what its issuer is.
func ClusterIssuer(ctx context.Context, c *rest.Config, issuer string, clientIDs ...string) (Issuer, error) {
	found, err := sim.FindCluster(ctx, c, issuer)
	if err != nil {
		return Issuer{}, err
	}
	return Issuer{URL: found.Issuer, JWKS: found.JWKS, ClientIDs: clientIDs, Client: found.Client}, nil
}
