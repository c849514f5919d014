// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
	"github.com/runner-identity/runner-identity/testbed/cluster"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
)

// gcpCloud is a simulated Google.
type gcpCloud struct {
	server *gcpsim.Server // set by start
	url    string         // set by start
	image  string         // set by start: an image that the identity has to be able to pull
}

var _ cloud = (*gcpCloud)(nil)

func (g *gcpCloud) start(c *cluster.Cluster, r resolve.Resolved, t identity.Trust) (string, error) {
	client, err := c.HTTPClient()
	if err != nil {
		return "", err
	}
	config, err := obey(t, gcpsim.Provider{JWKS: c.JWKSURL, Client: client})
	if err != nil {
		return "", err
	}
	var settings v1alpha1.GCPDefaults
	if err := r.Request.Settings.Decode(&settings); err != nil {
		return "", err
	}
	if len(settings.Repositories) == 0 {
		return "", errors.New("identity.gcp.repositories: the demo proves the login at a repository; name one, such as europe-west1-docker.pkg.dev/acme-ci/images")
	}
	g.image = settings.Repositories[0] + "/runner"
	if g.server, err = gcpsim.New(config); err != nil {
		return "", err
	}
	g.url = g.server.Start()
	step("Google (STS, IAM credentials, Artifact Registry) at %s; its IAM is what the commands that the trust command prints make, for %s", g.url, r.Plan.Principal)
	return g.url, nil
}

func (g *gcpCloud) here(spec *v1alpha1.IdentityProviderSpec) {
	if spec.GCP == nil {
		spec.GCP = &v1alpha1.GCPDefaults{}
	}
	spec.GCP.Endpoints = v1alpha1.GCPEndpoints{STS: g.url, IAMCredentials: g.url, ArtifactRegistry: g.url}
}

func (g *gcpCloud) stop() {
	if g.server != nil {
		g.server.Close()
	}
}
