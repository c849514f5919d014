// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
)

type plain struct{ name string }

func (p plain) Name() string                               { return p.name }
func (plain) Plan(identity.Request) (identity.Plan, error) { return identity.Plan{}, nil }

// prober is a plain provider that can also probe.
type prober struct{ plain }

func (prober) Probe(context.Context, identity.Secret, identity.Request) ([]identity.Link, error) {
	return []identity.Link{{Name: "token", OK: true}}, nil
}

// measured is a wrapper such as one for metrics. It has no capability of its own.
type measured struct{ identity.Provider }

func (m measured) Unwrap() identity.Provider { return m.Provider }

// sealed is a wrapper without Unwrap.
type sealed struct{ identity.Provider }

func TestASetFindsItsProvidersByName(t *testing.T) {
	set, err := identity.NewSet(plain{"gcp"}, plain{"aws"})
	require.NoError(t, err)
	assert.Equal(t, []string{"aws", "gcp"}, set.Names())
	p, err := set.Provider("gcp")
	require.NoError(t, err)
	assert.Equal(t, plain{"gcp"}, p)
}

func TestAnUnknownProviderIsInvalidAndTheErrorListsThoseOfThisBuild(t *testing.T) {
	set, err := identity.NewSet(plain{"gcp"}, plain{"aws"})
	require.NoError(t, err)
	_, err = set.Provider("azure")
	require.EqualError(t, err, `identity provider "azure" is not in this build, which has: aws, gcp`)
	assert.Equal(t, identity.Invalid, identity.ReasonOf(err))
}

func TestTwoProvidersOfOneNameAreAnError(t *testing.T) {
	_, err := identity.NewSet(plain{"aws"}, prober{plain{"aws"}})
	require.EqualError(t, err, `two providers are called "aws"`)
}

func TestTheZeroSetHasNoProvider(t *testing.T) {
	var set identity.Set
	assert.Empty(t, set.Names())
	_, err := set.Provider("aws")
	assert.Error(t, err)
}

func TestAsLooksThroughWrappers(t *testing.T) {
	for name, tc := range map[string]struct {
		provider identity.Provider
		want     bool
	}{
		"the provider itself":          {prober{plain{"p"}}, true},
		"one wrapper":                  {measured{prober{plain{"p"}}}, true},
		"three wrappers":               {measured{measured{measured{prober{plain{"p"}}}}}, true},
		"a provider that cannot":       {plain{"p"}, false},
		"a wrapped one that cannot":    {measured{plain{"p"}}, false},
		"a wrapper that does not show": {sealed{prober{plain{"p"}}}, false},
		"a wrapper of nothing":         {measured{nil}, false},
		"no provider at all":           {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			capable, ok := identity.As[identity.Prober](tc.provider)
			assert.Equal(t, tc.want, ok)
			assert.Equal(t, tc.want, capable != nil)
		})
	}
}
