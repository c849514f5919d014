// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

// ping asks a registry for its login check, as docker login does.
func (w *world) ping(t *testing.T, host, user, password string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v2/", nil)
	require.NoError(t, err)
	request.Host = host
	if user != "" {
		request.SetBasicAuth(user, password)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response
}

func TestRegistryTakesOnlyLoginsThatECRIssued(t *testing.T) {
	w := newWorld(t)
	user, password, _ := w.login(t, w.session(t, ciRole))
	for name, tt := range map[string]struct {
		host, user, password string
		want                 int
	}{
		"the login":                               {host, user, password, 200},
		"the login on the FIPS host":              {account + ".dkr.ecr-fips.eu-west-1.amazonaws.com", user, password, 200},
		"the login on the dual-stack host":        {account + ".dkr-ecr.eu-west-1.on.aws", user, password, 200},
		"the login on a port":                     {host + ":443", user, password, 200},
		"at another account that lets us in":      {other + ".dkr.ecr.eu-west-1.amazonaws.com", user, password, 200},
		"at an account that does not let us in":   {"777788889999.dkr.ecr.eu-west-1.amazonaws.com", user, password, 401},
		"in another region":                       {account + ".dkr.ecr.eu-central-1.amazonaws.com", user, password, 401},
		"a private login at ECR Public":           {"public.ecr.aws", user, password, 401},
		"another user name":                       {host, "aws", password, 401},
		"a password that was never issued":        {host, user, password[1:], 401},
		"no login":                                {host, "", "", 401},
		"a host of no registry":                   {"docker.io", user, password, 404},
		"a host that only begins like a registry": {host + ".fake.example.com", user, password, 404},
		"a suffix of another partition":           {account + ".dkr.ecr.eu-west-1.amazonaws.com.cn", user, password, 404},
	} {
		t.Run(name, func(t *testing.T) {
			response := w.ping(t, tt.host, tt.user, tt.password)
			assert.Equal(t, tt.want, response.StatusCode)
			if tt.want == 401 {
				assert.Contains(t, response.Header.Get("WWW-Authenticate"), "Basic realm=")
			}
		})
	}
}

func TestRegistrySaysThatALoginHasExpired(t *testing.T) {
	w := newWorld(t)
	user, password, _ := w.login(t, w.session(t, ciRole))
	w.Expire()
	assert.Equal(t, 401, w.ping(t, host, user, password).StatusCode)
	assert.Equal(t, "DENIED", w.History()[len(w.History())-1].Outcome)
	assert.Equal(t, 1, w.Calls(aws.Registry, "Ping"))
}

func TestRegistryIsThrottled(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.Inject(aws.Fault{Service: aws.Registry, Kind: aws.Throttle, Count: 1}))
	assert.Equal(t, 429, w.ping(t, host, "", "").StatusCode)
	assert.Equal(t, 401, w.ping(t, host, "", "").StatusCode)
}
