// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	ecrsdk "github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/aws"
	"github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/registry"
)

const (
	region   = "eu-west-1"
	role     = "arn:aws:iam::111122223333:role/ci"
	ecrHost  = "111122223333.dkr.ecr.eu-west-1.amazonaws.com"
	ecrImage = ecrHost + "/team/runner:1"

	provider = "projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster"
	arHost   = "europe-west1-docker.pkg.dev"
	arImage  = arHost + "/acme-ci/images/runner:1"
)

// An issuer is whose tokens the clouds take.
type issuer struct {
	url, jwks string
	client    *http.Client
}

// A world is both clouds, which trust one ServiceAccount, and their registries.
type world struct {
	aws            *aws.Server
	gcp            *gcp.Server
	awsURL, gcpURL string
	ecr, ar        *registry.Registry
}

func newWorld(t *testing.T, i issuer, namespace, account string) *world {
	t.Helper()
	subject := "system:serviceaccount:" + namespace + ":" + account
	bare := strings.TrimPrefix(i.url, "https://")
	trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
		"Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/%s"},
		"Condition":{"StringEquals":{"%[1]s:aud":"sts.amazonaws.com","%[1]s:sub":%q}}}]}`, bare, subject)
	var w world
	var err error
	w.aws, err = aws.New(aws.Config{
		Issuers: []aws.Issuer{{URL: i.url, JWKS: i.jwks, Client: i.client, ClientIDs: []string{"sts.amazonaws.com"}}},
		Roles:   map[string]aws.Role{role: {TrustPolicy: json.RawMessage(trust), Permissions: []string{"ecr:GetAuthorizationToken"}}},
	})
	require.NoError(t, err)
	member := "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/ci/subject/" + subject
	w.gcp, err = gcp.New(gcp.Config{
		Providers: []gcp.Provider{{Name: provider, Issuer: i.url, JWKS: i.jwks, Client: i.client}},
		Repositories: map[string]gcp.Repository{
			"projects/acme-ci/locations/europe-west1/repositories/images": {Bindings: map[string][]string{"roles/artifactregistry.reader": {member}}},
		},
	})
	require.NoError(t, err)
	w.awsURL, w.gcpURL = w.aws.Start(), w.gcp.Start()
	t.Cleanup(w.aws.Close)
	t.Cleanup(w.gcp.Close)
	w.ecr, w.ar = registry.ECR(w.aws), registry.ArtifactRegistry(w.gcp)
	return &w
}

// ecrLogin is what a workload with a token for sts.amazonaws.com gets from ECR.
func (w *world) ecrLogin(t *testing.T, token string) authn.AuthConfig {
	t.Helper()
	session, err := sts.New(sts.Options{Region: region, BaseEndpoint: &w.awsURL, Credentials: awssdk.AnonymousCredentials{}}).
		AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: new(role), RoleSessionName: new("runner"), WebIdentityToken: &token,
		})
	require.NoError(t, err)
	c := session.Credentials
	out, err := ecrsdk.New(ecrsdk.Options{
		Region: region, BaseEndpoint: &w.awsURL,
		Credentials: credentials.NewStaticCredentialsProvider(*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken),
	}).GetAuthorizationToken(t.Context(), &ecrsdk.GetAuthorizationTokenInput{})
	require.NoError(t, err)
	raw, err := base64.StdEncoding.DecodeString(*out.AuthorizationData[0].AuthorizationToken)
	require.NoError(t, err)
	user, password, _ := strings.Cut(string(raw), ":")
	return authn.AuthConfig{Username: user, Password: password}
}

// arLogin is what a workload with a token for the pool gets from Google's STS.
func (w *world) arLogin(t *testing.T, token string) authn.AuthConfig {
	t.Helper()
	resp, err := http.PostForm(w.gcpURL+"/v1/token", url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "audience": {"//iam.googleapis.com/" + provider}, "subject_token": {token},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"}, "subject_token_type": {"urn:ietf:params:oauth:token-type:jwt"},
		"scope": {"https://www.googleapis.com/auth/cloud-platform"},
	})
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var out struct {
		Token string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&out))
	return authn.AuthConfig{Username: "oauth2accesstoken", Password: out.Token}
}

func pull(t *testing.T, transport http.RoundTripper, ref string, login authn.Authenticator) (v1.Image, error) {
	t.Helper()
	tag, err := name.ParseReference(ref)
	require.NoError(t, err)
	return remote.Image(tag, remote.WithContext(t.Context()), remote.WithTransport(transport), remote.WithAuth(login))
}

func anImage(t *testing.T) v1.Image {
	t.Helper()
	img, err := random.Image(100, 1)
	require.NoError(t, err)
	return img
}
