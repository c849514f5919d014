// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/github"
	sim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestARunnersLifeInEachScope(t *testing.T) {
	for _, scope := range []github.Scope{organization, repository, enterprise} {
		t.Run(scope.String(), func(t *testing.T) {
			s := start(t, sim.Options{})
			c := s.client(t, scope)

			registered, err := c.Register(t.Context(), github.Registration{Name: "web-1", Labels: []string{"linux", "gpu"}})
			require.NoError(t, err)
			assert.Equal(t, "web-1", registered.Name)
			assert.Equal(t, []string{"self-hosted", "linux", "gpu"}, registered.Labels)

			found, ok, err := c.Find(t.Context(), "web-1")
			require.NoError(t, err)
			require.True(t, ok)
			assert.Equal(t, registered.ID, found.ID)
			assert.False(t, found.Online)
			assert.True(t, found.JITConfig.IsZero(), "only Register gives a JIT configuration")

			_, _, status := s.Connect(registered.JITConfig.Reveal())
			require.Equal(t, 200, status)
			require.True(t, s.Set("web-1", sim.Busy))
			now, ok, err := c.Status(t.Context(), registered.ID)
			require.NoError(t, err)
			require.True(t, ok)
			assert.True(t, now.Online)
			assert.True(t, now.Busy)

			require.ErrorIs(t, c.Remove(t.Context(), registered.ID), github.ErrBusy)
			require.Len(t, s.Runners(), 1, "a runner that runs a job stays")

			require.True(t, s.Set("web-1", sim.Online))
			require.NoError(t, c.Remove(t.Context(), registered.ID))
			assert.Empty(t, s.Runners())
			require.NoError(t, c.Remove(t.Context(), registered.ID), "removing a runner that is gone is done")
			_, ok, err = c.Status(t.Context(), registered.ID)
			require.NoError(t, err)
			assert.False(t, ok)
			_, ok, err = c.Find(t.Context(), "web-1")
			require.NoError(t, err)
			assert.False(t, ok)
		})
	}
}

func TestScopesDoNotSeeEachOthersRunners(t *testing.T) {
	s := start(t, sim.Options{})
	runner, err := s.client(t, organization).Register(t.Context(), github.Registration{Name: "web-1"})
	require.NoError(t, err)

	other := s.client(t, repository)
	_, ok, err := other.Find(t.Context(), "web-1")
	require.NoError(t, err)
	assert.False(t, ok)
	require.NoError(t, other.Remove(t.Context(), runner.ID))
	assert.Len(t, s.Runners(), 1)
	_, err = other.Register(t.Context(), github.Registration{Name: "web-1"})
	require.NoError(t, err, "a name is taken within its scope alone")
}

func TestGitHubComHasItsOwnBasePath(t *testing.T) {
	s := start(t, sim.Options{})
	var paths []string
	c := newClient(t, parse(t, map[string]string{github.KeyToken: token}), organization, github.WithTransport(toward(s.url, &paths)))
	_, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.NoError(t, err)
	assert.Equal(t, []string{"api.github.com/orgs/acme/actions/runners/generate-jitconfig"}, paths)
}

func TestJITConfigTellsTheRunnerWhatWasAskedFor(t *testing.T) {
	for given, want := range map[string]string{"": "_work", "/runner/_work": "/runner/_work"} {
		s := start(t, sim.Options{})
		runner, err := s.client(t, organization).Register(t.Context(), github.Registration{Name: "web-1", WorkDir: given})
		require.NoError(t, err)
		files := decode(t, runner.JITConfig.Reveal())
		var settings map[string]string
		require.NoError(t, json.Unmarshal(files[".runner"], &settings))
		assert.Equal(t, want, settings["WorkFolder"])
		assert.Equal(t, "True", settings["Ephemeral"])
		assert.NotContains(t, fmt.Sprintf("%+v %#v", runner, runner), runner.JITConfig.Reveal())
	}
}

func TestRegisterKeepsASelfHostedLabelThatIsThere(t *testing.T) {
	c := start(t, sim.Options{}).client(t, organization)
	runner, err := c.Register(t.Context(), github.Registration{Name: "web-1", Labels: []string{"gpu", "Self-Hosted"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"gpu", "Self-Hosted"}, runner.Labels)
}

func TestRegisterRefusesWhatGitHubWould(t *testing.T) {
	s := start(t, sim.Options{})
	c := s.client(t, organization)
	for name, want := range map[string]string{
		"": `register runner "" with organization acme: the name is empty`,
		strings.Repeat("n", 65): fmt.Sprintf(`register runner %q with organization acme: the name has 65 characters: GitHub takes 64`,
			strings.Repeat("n", 65)),
	} {
		_, err := c.Register(t.Context(), github.Registration{Name: name})
		require.EqualError(t, err, want)
	}
	assert.Empty(t, s.Calls())

	_, err := c.Register(t.Context(), github.Registration{Name: "web-1", Labels: make([]string, 101)})
	require.EqualError(t, err, `register runner "web-1" with organization acme: GitHub answered 422 (Invalid request. labels must have between 1 and 100 items): `+
		"change the name, the labels, the group or the work folder of the runner")
}

func TestNoCallIsMadeForAnEmptyNameOrID(t *testing.T) {
	s := start(t, sim.Options{})
	c := s.client(t, organization)
	_, _, err := c.Find(t.Context(), "")
	require.EqualError(t, err, `find runner "" in organization acme: the name is empty`)
	_, _, err = c.Status(t.Context(), 0)
	require.EqualError(t, err, "status of runner 0 in organization acme: the id is not a positive number")
	require.EqualError(t, c.Remove(t.Context(), -1), "remove runner -1 from organization acme: the id is not a positive number")
	assert.Empty(t, s.Calls())
}

func TestALostAnswerLeavesANameThatCanBeFreed(t *testing.T) {
	s := start(t, sim.Options{})
	c := s.client(t, organization)
	s.fail(t, sim.Fault{Kind: sim.Lost, Route: sim.RouteRegister, Times: 1})
	_, err := c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.Error(t, err)

	_, err = c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.ErrorIs(t, err, github.ErrNameTaken)
	left, ok, err := c.Find(t.Context(), "web-1")
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, c.Remove(t.Context(), left.ID))
	_, err = c.Register(t.Context(), github.Registration{Name: "web-1"})
	require.NoError(t, err)
}

func decode(t *testing.T, config string) map[string][]byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(config)
	require.NoError(t, err)
	var files map[string][]byte
	require.NoError(t, json.Unmarshal(b, &files))
	return files
}
