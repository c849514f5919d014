// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestASectionStandsBetweenItsMarkers(t *testing.T) {
	before, in, after, err := section("a\n<!-- begin x: by a test -->\n\nb\n\n<!-- end x -->\nc\n", "x")
	assert.NoError(t, err)
	assert.Equal(t, "a\n<!-- begin x: by a test -->\n", before)
	assert.Equal(t, "\nb\n\n", in)
	assert.Equal(t, "<!-- end x -->\nc\n", after)
}

func TestAPageWithoutBothMarkersInOrderIsAnError(t *testing.T) {
	for name, page := range map[string]string{
		"no marker":                "b\n",
		"no end":                   "<!-- begin x: y -->\nb\n",
		"no begin":                 "b\n<!-- end x -->\n",
		"the end first":            "<!-- end x -->\n<!-- begin x: y -->\nb\n",
		"another section's marker": "<!-- begin xy: y -->\nb\n<!-- end xy -->\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := section(page, "x")
			assert.ErrorContains(t, err, `has no lines "<!-- begin x: WORDS -->" and, after it, "<!-- end x -->"`)
		})
	}
}
