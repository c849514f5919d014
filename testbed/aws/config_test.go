// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

func TestExampleFileIsOneThatTheSimulatorTakes(t *testing.T) {
	b, err := os.ReadFile("roles.example.yaml")
	require.NoError(t, err)
	c, err := aws.ReadFile(b)
	require.NoError(t, err)
	_, err = aws.New(c)
	require.NoError(t, err)
	role := c.Roles["arn:aws:iam::111122223333:role/ci"]
	assert.Equal(t, 2*time.Hour, role.MaxSession)
	assert.Equal(t, []string{other}, role.Registries)
	assert.Contains(t, role.Permissions, "ecr:GetAuthorizationToken")
	assert.JSONEq(t, `{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/kubernetes.default.svc.cluster.local"},
		"Condition":{"StringEquals":{"kubernetes.default.svc.cluster.local:aud":"sts.amazonaws.com",
		"kubernetes.default.svc.cluster.local:sub":"system:serviceaccount:ci:aws-runner"}}}`, statement(t, role.TrustPolicy))
}

func statement(t *testing.T, policy []byte) string {
	t.Helper()
	var document struct{ Statement []json.RawMessage }
	require.NoError(t, json.Unmarshal(policy, &document))
	require.Len(t, document.Statement, 1)
	return string(document.Statement[0])
}

func TestTrustPolicyMayBePastedAsText(t *testing.T) {
	c, err := aws.ReadFile([]byte("roles:\n  " + ciRole + ":\n    trustPolicy: |\n      {\"Statement\": []}\n"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"Statement":[]}`, string(c.Roles[ciRole].TrustPolicy))
}

func TestImpossibleConfigIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		config aws.Config
		want   string
	}{
		"issuer without keys":       {aws.Config{Issuers: []aws.Issuer{{URL: issuerURL, ClientIDs: []string{audience}}}}, `issuer "` + issuerURL + `": url, jwks`},
		"role without an ARN":       {aws.Config{Roles: map[string]aws.Role{"ci": {TrustPolicy: json.RawMessage("{}")}}}, `role "ci": not a role ARN`},
		"role without trust policy": {aws.Config{Roles: map[string]aws.Role{ciRole: {}}}, "trustPolicy is not JSON"},
		"negative lifetime":         {aws.Config{LoginLifetime: -time.Hour}, "login -1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := aws.New(tt.config)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
