// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
)

// trap is a server that nobody may ask: environment, files and instance metadata of the process all point to it.
func trap(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// poison sets all that the SDKs would read of a process.
func poison(t *testing.T, url string) {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".aws"), 0o700))
	for name, text := range map[string]string{
		"config":      "[default]\nregion = us-west-2\nendpoint_url = " + url + "\nrole_arn = arn:aws:iam::999999999999:role/node\nsource_profile = default\n",
		"credentials": "[default]\naws_access_key_id = AKIAPOISON\naws_secret_access_key = poison\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(home, ".aws", name), []byte(text), 0o600))
	}
	for name, value := range map[string]string{
		"HOME": home, "AWS_CONFIG_FILE": filepath.Join(home, ".aws", "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(home, ".aws", "credentials"),
		"AWS_ACCESS_KEY_ID": "AKIAPOISON", "AWS_SECRET_ACCESS_KEY": "poison", "AWS_SESSION_TOKEN": "poison", "AWS_PROFILE": "missing",
		"AWS_REGION": "us-west-2", "AWS_DEFAULT_REGION": "us-west-2", "AWS_ROLE_ARN": "arn:aws:iam::999999999999:role/node",
		"AWS_WEB_IDENTITY_TOKEN_FILE": filepath.Join(home, "token"), "AWS_ROLE_SESSION_NAME": "poison", "AWS_MAX_ATTEMPTS": "9",
		"AWS_ENDPOINT_URL": url, "AWS_ENDPOINT_URL_STS": url, "AWS_ENDPOINT_URL_ECR": url, "AWS_ENDPOINT_URL_ECR_PUBLIC": url,
		"AWS_EC2_METADATA_SERVICE_ENDPOINT": url, "AWS_CONTAINER_CREDENTIALS_FULL_URI": url, "AWS_USE_FIPS_ENDPOINT": "true",
		"AWS_USE_DUALSTACK_ENDPOINT": "true",
	} {
		t.Setenv(name, value)
	}
}

func TestNothingOfTheProcessItselfMatters(t *testing.T) {
	url, asked := trap(t)
	poison(t, url)
	f := newFake(t)
	for name, r := range map[string]identity.Request{
		"endpoints of one's own": request(t, f.endpoints),
		"the endpoints of AWS":   request(t),
	} {
		t.Run(name, func(t *testing.T) {
			p := f.provider()
			for _, host := range []string{ownHost, "public.ecr.aws"} {
				_, err := p.Login(t.Context(), host, token(t), r)
				require.NoError(t, err)
			}
		})
	}
	for _, c := range f.called(webIdentity) {
		assert.Equal(t, roleARN, c.form["RoleArn"][0])
		assert.Equal(t, "ci-linux", c.form["RoleSessionName"][0])
		assert.Empty(t, c.auth)
	}
	assert.Equal(t, "sts.eu-west-1.amazonaws.com", f.called(webIdentity)[len(f.called(webIdentity))-1].host, "neither FIPS nor dual-stack")
	for _, c := range append(f.called(privateLogin), f.called(publicLogin)...) {
		assert.Contains(t, c.auth, "Credential=ASIAFAKE/")
	}
	assert.Zero(t, asked.Load(), "neither instance metadata nor an endpoint of the environment is asked")
}

func TestAFailureDoesNotFallBackToKeysOfTheProcess(t *testing.T) {
	url, asked := trap(t)
	poison(t, url)
	f := newFake(t)
	f.on(webIdentity, stsError(403, "AccessDenied", "no"))
	_, err := f.provider().Login(t.Context(), ownHost, token(t), request(t, f.endpoints))
	require.ErrorContains(t, err, "AccessDenied")
	assert.Equal(t, 1, f.count(webIdentity))
	assert.Zero(t, f.count(privateLogin))
	assert.Zero(t, asked.Load())
}

func TestAPlanDoesNotDependOnTheProcess(t *testing.T) {
	before := plan(t, request(t, as(identity.Both)))
	url, asked := trap(t)
	poison(t, url)
	after, err := aws.New().Plan(request(t, as(identity.Both)))
	require.NoError(t, err)
	assert.Equal(t, before, after)
	assert.Zero(t, asked.Load())
}
