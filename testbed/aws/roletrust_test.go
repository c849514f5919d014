// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/json"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/assert"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

func allowAssume(principal string) string {
	return `{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + principal + `"}}`
}

func TestTrustPolicyOfAChainedRole(t *testing.T) {
	const (
		root    = "arn:aws:iam::111122223333:root"
		sibling = "arn:aws:iam::111122223333:role/sibling"
	)
	for name, tt := range map[string]struct {
		from, to  string
		statement string
		want      bool
	}{
		"names the caller's account, and the caller may assume roles":         {ciRole, deployRole, allowAssume(root), true},
		"names the caller's account, but the caller may not assume roles":     {bareRole, deployRole, allowAssume(root), false},
		"names the caller in its own account, who then needs no permission":   {bareRole, sibling, allowAssume(bareRole), true},
		"names the caller of another account, who needs a permission as well": {bareRole, deployRole, allowAssume(bareRole), false},
		"names another role":                                                    {ciRole, sibling, allowAssume(bareRole), false},
		"allows the caller and denies it":                                       {ciRole, sibling, allowAssume(root) + `,{"Effect":"Deny","Action":"sts:*","Principal":{"AWS":"` + ciRole + `"}}`, false},
		"has a statement that cannot be read, which might be a Deny":            {ciRole, sibling, allowAssume(root) + `,{"Effect":"Deny","Action":"*","Principal":"*"}`, false},
		"has a condition that the simulator does not know, which does not hold": {ciRole, sibling, `{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"` + root + `"},"Condition":{"Bool":{"aws:SecureTransport":"true"}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(c *aws.Config) {
				c.Roles[tt.to] = aws.Role{TrustPolicy: json.RawMessage(`{"Statement":[` + tt.statement + `]}`)}
			})
			_, err := w.sts(w.session(t, tt.from)).AssumeRole(t.Context(), &sts.AssumeRoleInput{
				RoleArn: &tt.to, RoleSessionName: awssdk.String("deploy-1"),
			})
			if tt.want {
				assert.NoError(t, err)
				return
			}
			requireAPIError(t, err, 403, "AccessDenied", "sts:AssumeRole on resource: "+tt.to)
		})
	}
}
