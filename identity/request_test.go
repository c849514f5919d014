// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
)

func TestTheAccountsOfARequest(t *testing.T) {
	two := identity.Accounts{Runner: "r", Job: "j"}
	for name, tc := range map[string]struct {
		accounts identity.Accounts
		targets  identity.Target
		bound    []string
		exchange string
	}{
		"the runner alone":          {two, identity.Runner, []string{"r"}, "r"},
		"the job alone":             {two, identity.Job, []string{"j"}, "j"},
		"both trade the job's":      {two, identity.Both, []string{"r", "j"}, "j"},
		"both of one account":       {identity.Accounts{Runner: "x", Job: "x"}, identity.Both, []string{"x"}, "x"},
		"the job of a same account": {identity.Accounts{Runner: "x", Job: "x"}, identity.Job, []string{"x"}, "x"},
		"nobody":                    {two, 0, nil, "r"},
	} {
		t.Run(name, func(t *testing.T) {
			r := identity.Request{Accounts: tc.accounts, Targets: tc.targets}
			assert.Equal(t, tc.bound, r.Bound())
			assert.Equal(t, tc.exchange, r.Exchange())
		})
	}
}

func TestTargetsHaveNames(t *testing.T) {
	for want, target := range map[string]identity.Target{"Runner": identity.Runner, "Job": identity.Job, "Runner,Job": identity.Both, "None": 0} {
		assert.Equal(t, want, target.String())
	}
	assert.True(t, identity.Both.Has(identity.Job))
	assert.False(t, identity.Runner.Has(identity.Both))
}

func TestSettingsThatAStructDoesNotHaveAreRefusedByName(t *testing.T) {
	var into struct{ Region string }
	err := identity.Settings(`{"region":"eu-west-1","regoin":"x"}`).Decode(&into)
	require.ErrorContains(t, err, "regoin")
	assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
}

func TestSettingsDecode(t *testing.T) {
	into := struct{ Region string }{"eu-west-1"}
	require.NoError(t, identity.Settings(nil).Decode(&into))
	assert.Equal(t, "eu-west-1", into.Region, "empty settings leave it as it is")
	require.NoError(t, identity.Settings(`{"region":"eu-north-1"}`).Decode(&into))
	assert.Equal(t, "eu-north-1", into.Region)
}

func TestARequestSurvivesJSON(t *testing.T) {
	r := identity.Request{
		Namespace: "ci", Name: "linux", Accounts: identity.Accounts{Runner: "r", Job: "j"}, Targets: identity.Both, Issuer: "https://issuer.example.com",
		Registries: []string{"a"}, ImageHosts: []string{"b"}, Settings: identity.Settings(`{"region":"eu-west-1"}`),
	}
	b, err := json.Marshal(r)
	require.NoError(t, err)
	var back identity.Request
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, r, back)
}

func TestARequestWithoutSettingsIsJSON(t *testing.T) {
	b, err := json.Marshal(identity.Request{Namespace: "ci"})
	require.NoError(t, err)
	var back identity.Request
	require.NoError(t, json.Unmarshal(b, &back))
	require.NoError(t, back.Settings.Decode(&struct{ Region string }{}), "null settings are empty ones")
}
