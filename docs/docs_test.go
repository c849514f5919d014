// SPDX-License-Identifier: Apache-2.0

// Package docs_test applies everything that the documentation shows.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m, "../config/crd") }

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// pages are all pages of the documentation.
func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("*.md")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return append(all, "../README.md", "../CONTRIBUTING.md")
}

func TestEveryYAMLInTheDocsIsTakenByAnAPIServer(t *testing.T) {
	c := cluster.Shared(t)
	count := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			count++
			out, err := c.KubectlInput(t.Context(), block[1], "apply", "--dry-run=server", "--validate=strict", "-n", "default", "-f", "-")
			assert.NoError(t, err, "%s: %s\n%s", page, out, block[1])
		}
	}
	assert.Positive(t, count, "the docs show no YAML at all: is the pattern still right?")
}

func TestTheSamplesAreTaken(t *testing.T) {
	c := cluster.Shared(t)
	samples, err := filepath.Glob("../config/samples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, sample := range samples {
		out, err := c.Kubectl(t.Context(), "apply", "--dry-run=server", "--validate=strict", "-n", "default", "-f", sample)
		assert.NoError(t, err, "%s: %s", sample, out)
	}
}

func TestTheInstallationOfTheREADMEWorks(t *testing.T) {
	c := cluster.Shared(t)
	out, err := c.Kubectl(t.Context(), "apply", "-k", "../config/default")
	require.NoError(t, err, out)
	assert.Contains(t, out, "deployment.apps/runner-identity-controller created")
}

var link = regexp.MustCompile(`\]\(([^)#:]+\.md)\)`)

func TestLinksBetweenPagesLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			assert.FileExists(t, filepath.Join(filepath.Dir(page), m[1]), "%s links to it", page)
		}
	}
}

func TestPathsThatTheDocsNameExist(t *testing.T) {
	path := regexp.MustCompile("`((?:config|testbed|identity|podspec|resolve|manifest|controllers|docs)/[a-z0-9/._-]+)`")
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range path.FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat(filepath.Join("..", strings.TrimSuffix(m[1], "/")))
			assert.NoError(t, err, "%s names %s", page, m[1])
		}
	}
}
