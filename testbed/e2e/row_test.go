// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/e2e/probe/report"
)

// A row is one of the table in the documentation.
type row struct{ pod, group, token, config, dir string }

// measure fills in what one cloud's pod showed. What another one showed already must be the same.
func (r *row) measure(t *testing.T, c cloud, looks []report.Look) {
	t.Helper()
	r.cell(t, &r.token, looks, c.token)
	r.cell(t, &r.config, looks, c.config)
	for _, dir := range c.dirs {
		r.cell(t, &r.dir, looks, dir)
	}
}

func (r *row) cell(t *testing.T, into *string, looks []report.Look, path string) {
	t.Helper()
	got := cell(t, looks, path)
	if *into != "" {
		assert.Equal(t, *into, got, "both clouds' pods show the same: %s", path)
	}
	*into = got
}

// cell is mode and owner of a path, then the users that can read or write it, and those that cannot.
func cell(t *testing.T, looks []report.Look, path string) string {
	t.Helper()
	var modes []string
	var can, cannot []int
	for _, l := range looks {
		i := slices.IndexFunc(l.Seen, func(s report.Seen) bool { return s.Path == path })
		require.GreaterOrEqual(t, i, 0, "user %d did not look at %s", l.UID, path)
		s := l.Seen[i]
		modes = append(modes, s.Mode+" "+s.Owner)
		if s.Can {
			can = append(can, l.UID)
		} else {
			cannot = append(cannot, l.UID)
		}
	}
	require.Len(t, slices.Compact(modes), 1, "all users see the same mode of %s", path)
	return modes[0] + ": " + strings.Join(slices.Concat(numbers("", can), numbers("not ", cannot)), ", ")
}

// numbers are users in order, without repeats.
func numbers(prefix string, users []int) (out []string) {
	slices.Sort(users)
	for _, u := range slices.Compact(users) {
		out = append(out, prefix+strconv.Itoa(u))
	}
	return out
}

// table is what is measured in Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| Pod | `fsGroup` | Token | Configuration file | gcloud's directory |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.pod, r.group, r.token, r.config, r.dir)
	}
	return b.String()
}
