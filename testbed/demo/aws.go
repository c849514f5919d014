// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
	awssim "github.com/runner-identity/runner-identity/testbed/aws"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

// awsCloud is a simulated AWS.
type awsCloud struct {
	server *awssim.Server // set by start
	url    string         // set by start
}

var _ cloud = (*awsCloud)(nil)

func (a *awsCloud) start(c *cluster.Cluster, r resolve.Resolved, t identity.Trust) (string, error) {
	client, err := c.HTTPClient()
	if err != nil {
		return "", err
	}
	role := r.Plan.Principal
	a.server, err = awssim.New(awssim.Config{
		Issuers: []awssim.Issuer{{URL: c.Issuer, JWKS: c.JWKSURL, ClientIDs: []string{"sts.amazonaws.com"}, Client: client}},
		Roles:   map[string]awssim.Role{role: {TrustPolicy: trustPolicy(t), Permissions: []string{"ecr:GetAuthorizationToken"}}},
	})
	if err != nil {
		return "", err
	}
	a.url = a.server.Start()
	step("AWS (STS, ECR) at %s; its IAM holds the trust policy that the trust command prints, for role %s", a.url, role)
	return a.url, nil
}

// trustPolicy is the document that says who may assume the role.
func trustPolicy(t identity.Trust) []byte {
	for _, d := range t.Documents {
		if strings.HasPrefix(d.Title, "Trust policy") {
			return []byte(d.Body)
		}
	}
	return nil
}

func (a *awsCloud) here(spec *v1alpha1.IdentityProviderSpec) {
	if spec.AWS == nil {
		spec.AWS = &v1alpha1.AWSDefaults{}
	}
	spec.AWS.Endpoints = v1alpha1.AWSEndpoints{STS: a.url, ECR: a.url, ECRPublic: a.url}
}

func (a *awsCloud) stop() {
	if a.server != nil {
		a.server.Close()
	}
}
