// SPDX-License-Identifier: Apache-2.0

package aws

import "github.com/runner-identity/runner-identity/identity"

// EKS Pod Identity: the names of EKS's own webhook, and the address of the agent on each node.
const (
	podIdentityService  = "pods.eks.amazonaws.com"
	podIdentityVolume   = "eks-pod-identity-token"
	podIdentityToken    = "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount/eks-pod-identity-token" //nolint:gosec // a path
	podIdentityJobToken = identity.Dir + "/aws/eks-pod-identity-token"
	podIdentityURI      = "http://169.254.170.23/v1/credentials"
	podIdentityLabel    = "eks.amazonaws.com/pod-identity"
)

// podIdentityPlan gives pods what EKS's webhook would give them. The role is EKS's to know, by its PodIdentityAssociation;
// there is no Exchange, because the agent takes only tokens that are bound to a running pod.
func (s settings) podIdentityPlan(targets identity.Target) identity.Plan {
	p := identity.Plan{
		Pods: []identity.PodMetadata{{Metadata: identity.Metadata{Labels: map[string]string{podIdentityLabel: "enabled"}, For: targets}}},
	}
	for _, t := range each(targets) {
		token := identity.Token{Path: podIdentityJobToken, Audience: podIdentityService, Lifetime: s.lifetime, For: t}
		if t == identity.Runner {
			token.Path, token.Volume = podIdentityToken, podIdentityVolume
		}
		p.Tokens = append(p.Tokens, token)
		e := env{target: t}
		e.regional()
		e.region(s.Region)
		e.add("AWS_CONTAINER_CREDENTIALS_FULL_URI", podIdentityURI)
		e.add("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.Path)
		e.metadata(s.AllowInstanceMetadata)
		p.Env = append(p.Env, e.vars...)
	}
	return p
}
