// SPDX-License-Identifier: Apache-2.0

package github_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/github"
	sim "github.com/runner-identity/runner-identity/testbed/github"
)

func TestRunnersGoIntoTheGroupOfThatName(t *testing.T) {
	for _, scope := range []github.Scope{organization, enterprise} {
		s := start(t, sim.Options{Groups: []string{"Small", "GPU nodes"}})
		c := s.client(t, scope)
		for i, group := range []string{"", "default", "GPU nodes", "gpu nodes"} {
			_, err := c.Register(t.Context(), github.Registration{Name: fmt.Sprint("r", i), Group: group})
			require.NoError(t, err)
		}
		var ids []int64
		for _, r := range s.Runners() {
			ids = append(ids, r.GroupID)
		}
		assert.Equal(t, []int64{1, 1, 3, 3}, ids)
		assert.Equal(t, 1, s.calls(sim.RouteGroups), "groups are listed once, and not for the default one")
	}
}

func TestAGroupOnTheSecondPageIsFound(t *testing.T) {
	var names []string
	for i := range 150 {
		names = append(names, fmt.Sprint("group-", i))
	}
	s := start(t, sim.Options{Groups: names})
	_, err := s.client(t, organization).Register(t.Context(), github.Registration{Name: "web-1", Group: "group-149"})
	require.NoError(t, err)
	assert.Equal(t, int64(151), s.Runners()[0].GroupID)
	assert.Equal(t, 2, s.calls(sim.RouteGroups))
}

func TestAGroupThatIsNotThere(t *testing.T) {
	s := start(t, sim.Options{Groups: []string{"small"}})
	_, err := s.client(t, organization).Register(t.Context(), github.Registration{Name: "web-1", Group: "gpu"})
	require.EqualError(t, err, `register runner "web-1" with organization acme: there is no runner group "gpu": make it, or name one of default, small`)
	assertDenied(t, err, 0)

	_, err = s.client(t, repository).Register(t.Context(), github.Registration{Name: "web-1", Group: "small"})
	require.EqualError(t, err, `register runner "web-1" with repository acme/website: `+
		`runners of a repository have no groups: remove group "small", or register with the organisation`)
	assertDenied(t, err, 0)
}

func TestAGroupThatWasMadeAgainIsLookedUpAgain(t *testing.T) {
	s := start(t, sim.Options{Groups: []string{"small", "gpu"}})
	c := s.client(t, organization)
	_, err := c.Register(t.Context(), github.Registration{Name: "r0", Group: "gpu"})
	require.NoError(t, err)

	s.SetGroups("gpu")
	_, err = c.Register(t.Context(), github.Registration{Name: "r1", Group: "gpu"})
	assertDenied(t, err, 422)
	_, err = c.Register(t.Context(), github.Registration{Name: "r1", Group: "gpu"})
	require.NoError(t, err)
	assert.Equal(t, int64(2), s.Runners()[1].GroupID)
}
