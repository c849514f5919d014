// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/runner-identity/runner-identity/testbed/aws"
	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }

func TestTokenOfARealAPIServerIsTradedAndOneForAnotherAudienceIsNot(t *testing.T) {
	c := cluster.Shared(t)
	client, err := kubernetes.NewForConfig(c.Config)
	require.NoError(t, err)
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "aws-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	accounts := client.CoreV1().ServiceAccounts(namespace.Name)
	_, err = accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "runner"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	request := func(audience string) string {
		r, err := accounts.CreateToken(t.Context(), "runner", &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		return r.Status.Token
	}
	issuer, err := aws.ClusterIssuer(t.Context(), c.Config, "", audience)
	require.NoError(t, err)
	assert.Equal(t, c.Issuer, issuer.URL)

	subjectHere := "system:serviceaccount:" + namespace.Name + ":runner"
	w := newWorld(t, func(config *aws.Config) {
		trust := strings.NewReplacer("oidc.example.com/id/cluster", strings.TrimPrefix(c.Issuer, "https://"), subject, subjectHere).Replace(trustCI)
		config.Clock, config.Issuers = clock.RealClock{}, []aws.Issuer{issuer}
		config.Roles[ciRole] = aws.Role{TrustPolicy: json.RawMessage(trust), Permissions: []string{"ecr:*"}}
	})
	out, err := w.assume(t, ciRole, request(audience))
	require.NoError(t, err)
	assert.Equal(t, subjectHere, *out.SubjectFromWebIdentityToken)
	user, password, _ := w.login(t, static(out.Credentials))
	assert.Equal(t, 200, w.ping(t, host, user, password).StatusCode)

	_, err = w.assume(t, ciRole, request("https://kubernetes.default.svc"))
	requireAPIError(t, err, 400, "InvalidIdentityToken", "Incorrect token audience")
}
