// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.HomeFiler = (*Provider)(nil)

// HomeFiles is the config file of every AWS tool. The same roles and the same session name are in the plan's variables: SDKs
// disagree which of the two wins. There is none where the pod itself is the identity: with EKS Pod Identity, and with binding
// Annotate, whose token only the EKS webhook makes.
func (*Provider) HomeFiles(r identity.Request) ([]identity.File, error) {
	s, problems := parse(r)
	if err := identity.Problems(problems); err != nil {
		return nil, err
	}
	if !s.webIdentity() || s.Binding == v1alpha1.AWSAnnotate {
		return nil, nil
	}
	return []identity.File{{Path: ".aws/config", Content: s.configFile(), For: identity.Job}}, nil
}
