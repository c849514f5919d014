// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// assetsEnv names a directory with the programs, as everywhere in the Kubernetes world.
const assetsEnv = "KUBEBUILDER_ASSETS"

// downloadTimeout is how long setup-envtest may take. It is quick or it is not there.
const downloadTimeout = 20 * time.Second

// programs is where the programs are: a directory with one file each, or one file that is all of them.
type programs struct{ dir, multicall string }

// command returns the beginning of a program's command line.
func (p programs) command(name string) ([]string, error) {
	if p.multicall != "" {
		return []string{p.multicall, name}, nil
	}
	if path := filepath.Join(p.dir, name); isFile(path) {
		return []string{path}, nil
	}
	if path, err := exec.LookPath(name); err == nil && name == "kubectl" {
		return []string{path}, nil
	}
	return nil, fmt.Errorf("no program %s in %s", name, p.dir)
}

func (p programs) has(name string) bool {
	_, err := p.command(name)
	return err == nil
}

// Prepare finds or builds the programs without starting them, so that their first build can be watched. It returns where
// they are.
func Prepare(ctx context.Context, o Options) (string, error) {
	p, err := findPrograms(ctx, o.progress(), o.Nodes)
	return p.dir + p.multicall, err
}

// findPrograms takes what the user named, else an earlier build, else a download, else it builds. Downloads have no programs of
// nodes.
func findPrograms(ctx context.Context, p progress, nodes bool) (programs, error) {
	if dir := os.Getenv(assetsEnv); dir != "" {
		return assets(dir)
	}
	b, err := newBuild()
	if err != nil {
		return programs{}, err
	}
	if b.done() {
		return programs{multicall: b.binary()}, nil
	}
	if !nodes {
		if found, ok := download(ctx, b, p); ok {
			return found, nil
		}
	}
	return programs{multicall: b.binary()}, b.run(ctx, p)
}

// assets checks a directory that the user named.
func assets(dir string) (programs, error) {
	found := programs{dir: dir}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if !isFile(filepath.Join(dir, name)) {
			return programs{}, fmt.Errorf("%s: %s has no program %s; unset it to have the programs built", assetsEnv, dir, name)
		}
	}
	return found, nil
}

// download asks setup-envtest, which has no program to offer where its host cannot be reached.
func download(ctx context.Context, b build, p progress) (programs, bool) {
	p.say("asking setup-envtest for Kubernetes %s (at most %s)", b.envtestVersion(), downloadTimeout)
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=go.tools.mod", "setup-envtest", "use", b.envtestVersion(), "-p", "path")
	cmd.Dir, cmd.WaitDelay = b.root, time.Second
	out, err := cmd.Output()
	if err != nil {
		p.say("setup-envtest has none for us (%v)", err)
		return programs{}, false
	}
	found, err := assets(strings.TrimSpace(string(out)))
	return found, err == nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
