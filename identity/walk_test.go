// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
)

func TestAWalkStopsAtTheFirstBrokenLink(t *testing.T) {
	broken := errors.New("the role does not let this token in")
	links, err := identity.Walk(
		identity.Step{Name: "token", Look: func() (string, error) { return "it is for the cloud", nil }},
		identity.Step{Name: "sts", Look: func() (string, error) { return "", broken }},
		identity.Step{Name: "registry", Look: func() (string, error) {
			assert.Fail(t, "nobody is asked after the broken link")
			return "", nil
		}},
	)
	require.ErrorIs(t, err, broken)
	assert.Equal(t, []identity.Link{
		{Name: "token", OK: true, Detail: "it is for the cloud"},
		{Name: "sts", Detail: "the role does not let this token in"},
	}, links)
}
