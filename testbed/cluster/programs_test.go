// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/process"
)

func touch(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
}

func TestTheUsersAssetsComeFirst(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "etcd", "kube-apiserver")
	t.Setenv(assetsEnv, dir)

	found, err := findPrograms(t.Context(), Options{}.progress(), false)

	require.NoError(t, err)
	argv, err := found.command("kube-apiserver")
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "kube-apiserver")}, argv)
	assert.False(t, found.has("kube-controller-manager"), "setup-envtest brings none")
}

func TestAssetsWithoutAProgramAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	touch(t, dir, "etcd")
	t.Setenv(assetsEnv, dir)

	_, err := findPrograms(t.Context(), Options{}.progress(), false)

	assert.EqualError(t, err, "KUBEBUILDER_ASSETS: "+dir+" has no program kube-apiserver; unset it to have the programs built")
}

func TestAnEarlierBuildIsTakenFromTheCache(t *testing.T) {
	t.Setenv(assetsEnv, "")
	t.Setenv(cacheEnv, t.TempDir())
	b, err := newBuild()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(b.cache, 0o755))
	touch(t, b.cache, "kube")

	found, err := findPrograms(t.Context(), Options{}.progress(), false)

	require.NoError(t, err)
	argv, err := found.command("etcd")
	require.NoError(t, err)
	assert.Equal(t, []string{b.binary(), "etcd"}, argv)
}

func TestOutsideOfACheckoutTheErrorSaysWhatToDo(t *testing.T) {
	t.Chdir(t.TempDir())

	_, err := newBuild()

	assert.ErrorContains(t, err, "run inside of a checkout, or set KUBEBUILDER_ASSETS")
}

func TestABuildThatFailsShowsTheCompilersWords(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, module)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module kube\n\ngo 1.26\n\n// k8s.io/kubernetes v1.37.2\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { undefined() }\n"), 0o600))
	t.Chdir(dir)
	t.Setenv(cacheEnv, t.TempDir())
	b, err := newBuild()
	require.NoError(t, err)

	err = b.run(t.Context(), Options{}.progress())

	require.ErrorContains(t, err, "undefined: undefined")
	assert.False(t, b.done(), "nothing is left that looks finished")
}

func TestABuildWaitsForAnotherOne(t *testing.T) {
	b := build{root: t.TempDir(), cache: t.TempDir()}
	lock, err := process.TryLock(filepath.Join(b.cache, "lock"))
	require.NoError(t, err)
	waits, cancel := context.WithCancel(t.Context())
	var said bytes.Buffer
	p := progress{writerFunc(func(line []byte) (int, error) { cancel(); return said.Write(line) })}

	assert.ErrorIs(t, b.run(waits, p), context.Canceled)
	assert.Contains(t, said.String(), "waiting for another process")

	touch(t, b.cache, "kube")
	require.NoError(t, lock.Close())
	assert.NoError(t, b.run(t.Context(), p), "the other one's result is taken")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestAProgramThatEndsIsReportedWithItsLastWords(t *testing.T) {
	c := &Cluster{Dir: t.TempDir()}
	p, err := process.Start(process.Spec{Name: "sh", Dir: c.Dir, Argv: []string{"/bin/sh", "-c", "echo cannot open the database >&2; exit 3"}})
	require.NoError(t, err)
	c.processes = append(c.processes, p)

	err = c.wait(t.Context(), "nothing", func(context.Context) error { return assert.AnError })

	assert.ErrorContains(t, err, "sh ended; the end of "+filepath.Join(c.Dir, "sh.log")+":\ncannot open the database")
}
