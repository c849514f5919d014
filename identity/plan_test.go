// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
)

func planInDir() identity.Plan {
	return identity.Plan{
		Principal: "role",
		Accounts:  []identity.Metadata{{Annotations: map[string]string{"a": "b"}, For: identity.Runner}},
		Tokens: []identity.Token{
			{Path: identity.Dir + "/aws/token", Audience: "x", Lifetime: time.Hour, For: identity.Job},
			{Path: "/var/run/other/token", Volume: "other", Audience: "x", Lifetime: time.Hour, For: identity.Runner},
		},
		Files: []identity.File{{Path: identity.Dir + "/aws/config", Content: "file = " + identity.Dir + "/aws/token\nagain = " + identity.Dir, For: identity.Job}},
		Env: []identity.Env{
			{Name: "FILE", Value: identity.Dir + "/aws/token", For: identity.Job},
			{Name: "REGION", Value: "eu-west-1", For: identity.Job},
		},
		Registries: []identity.Registry{{Host: "a.example.com", For: identity.Both}},
		Exchange:   identity.Exchange{Audience: "x", Lifetime: time.Hour},
	}
}

func TestAtPutsTheDirectoryIntoPathsContentsAndValues(t *testing.T) {
	for name, dir := range map[string]string{"a clean path": "/run/id", "a path with a slash at its end": "/run/id/"} {
		t.Run(name, func(t *testing.T) {
			p := planInDir().At(dir)
			assert.Equal(t, "/run/id/aws/token", p.Tokens[0].Path)
			assert.Equal(t, "/var/run/other/token", p.Tokens[1].Path)
			assert.Equal(t, "/run/id/aws/config", p.Files[0].Path)
			assert.Equal(t, "file = /run/id/aws/token\nagain = /run/id", p.Files[0].Content)
			assert.Equal(t, "/run/id/aws/token", p.Env[0].Value)
			assert.Equal(t, "eu-west-1", p.Env[1].Value)
			b, err := json.Marshal(p)
			require.NoError(t, err)
			assert.False(t, strings.Contains(string(b), identity.Dir), "no placeholder is left")
		})
	}
}

func TestAtLeavesThePlanItself(t *testing.T) {
	p := planInDir()
	_ = p.At("/run/id")
	assert.Equal(t, planInDir(), p)
}

func TestAtOfTheZeroPlanIsTheZeroPlan(t *testing.T) {
	assert.Equal(t, identity.Plan{}, identity.Plan{}.At("/run/id"))
}

func TestHostsAreThePlansOwnOrderWithoutRepeats(t *testing.T) {
	p := identity.Plan{Registries: []identity.Registry{
		{Host: "b.example.com", For: identity.Runner}, {Host: "a.example.com", For: identity.Job}, {Host: "b.example.com", For: identity.Job},
	}}
	assert.Equal(t, []string{"b.example.com", "a.example.com"}, p.Hosts())
	assert.Empty(t, identity.Plan{}.Hosts())
}

func TestAPlanSurvivesJSON(t *testing.T) {
	b, err := json.Marshal(planInDir())
	require.NoError(t, err)
	var back identity.Plan
	require.NoError(t, json.Unmarshal(b, &back))
	assert.Equal(t, planInDir(), back)
}
