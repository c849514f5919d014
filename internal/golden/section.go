// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// CheckSection compares with the part of a page that stands between the lines "<!-- begin NAME: WORDS -->" and "<!-- end NAME -->".
// The words tell a reader where it comes from. Blank lines around the part do not count.
func CheckSection(t *testing.T, path, name, got string) {
	t.Helper()
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	before, want, after, err := section(string(page), name)
	require.NoError(t, err, path)
	if *update {
		want = "\n" + strings.Trim(got, "\n") + "\n\n"
		require.NoError(t, os.WriteFile(path, []byte(before+want+after), 0o600)) //nolint:gosec // the test names the page
	}
	assert.Equal(t, strings.Trim(want, "\n"), strings.Trim(got, "\n"), "%s, %s: run the test with -update", path, name)
}

// section cuts a page at the markers, which go to the parts around the section.
func section(page, name string) (before, in, after string, err error) {
	begin, end := "<!-- begin "+name+": ", "<!-- end "+name+" "
	start := strings.Index(page, begin)
	stop := strings.Index(page, end)
	line := strings.Index(page[max(start, 0):], "\n") + 1
	if start < 0 || line == 0 || stop < start+line {
		return "", "", "", fmt.Errorf("has no lines %q and, after it, %q", begin+"WORDS -->", end+"-->")
	}
	return page[:start+line], page[start+line : stop], page[stop:], nil
}
