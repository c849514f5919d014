// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
)

func TestReasonOf(t *testing.T) {
	denied := identity.Errorf(identity.Denied, "role %q: no", "ci")
	for name, tc := range map[string]struct {
		err  error
		want identity.Reason
	}{
		"an Error has its reason":                        {denied, identity.Denied},
		"a wrapped Error keeps it":                       {fmt.Errorf("login: %w", denied), identity.Denied},
		"the outermost Error wins":                       {identity.Errorf(identity.Invalid, "spec: %w", denied), identity.Invalid},
		"an Error among joined ones is found":            {errors.Join(io.EOF, denied), identity.Denied},
		"any other error can be retried":                 {io.EOF, identity.Unreachable},
		"no error has the reason that is safe to repeat": {nil, identity.Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, identity.ReasonOf(tc.err))
		})
	}
}

func TestAnErrorShowsItsMessageAndKeepsItsCause(t *testing.T) {
	err := identity.Errorf(identity.Unreachable, "read: %w", io.EOF)
	require.EqualError(t, err, "read: EOF")
	assert.ErrorIs(t, err, io.EOF)
}

func TestProblemsBecomeOneInvalidErrorThatNamesEachField(t *testing.T) {
	err := identity.Problems([]identity.Problem{{Field: "aws.roleARN", Message: "is not set"}, {Field: "aws.region", Message: `"x" is none`}})
	require.EqualError(t, err, "aws.roleARN: is not set\naws.region: \"x\" is none")
	assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
}

func TestNoProblemsAreNoError(t *testing.T) {
	require.NoError(t, identity.Problems(nil))
}
