// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// cacheEnv names the directory for built programs, instead of the user's cache directory.
const cacheEnv = "RUNNER_IDENTITY_CACHE"

// module is where the programs' own module is, from the root of ours.
const module = "testbed/cluster/kube"

// kubernetesLine is where the module says which Kubernetes it is. The major version of the module is that of Kubernetes.
var kubernetesLine = regexp.MustCompile(`k8s\.io/kubernetes v(1)\.(\d+)\.(\d+)\n`)

// A build is the programs built from source, kept in a directory that is named after their source.
type build struct {
	root    string   // of our checkout
	cache   string   // gets the programs
	version []string // of Kubernetes: 1, minor, patch
}

// newBuild finds the source from the working directory upwards.
func newBuild() (build, error) {
	root, err := os.Getwd()
	for err == nil && !isFile(filepath.Join(root, module, "go.mod")) {
		if root == filepath.Dir(root) {
			err = fmt.Errorf("no %s above the working directory: run inside of a checkout, or set %s", module, assetsEnv)
		}
		root = filepath.Dir(root)
	}
	if err != nil {
		return build{}, err
	}
	b := build{root: root}
	key, err := b.readSource()
	if err != nil {
		return build{}, err
	}
	cache, err := cacheDir()
	b.cache = filepath.Join(cache, "kube", key)
	return b, err
}

func (b build) binary() string { return filepath.Join(b.cache, "kube") }

func (b build) done() bool { return isFile(b.binary()) }

// run builds, once for all processes that want it at the same time.
func (b build) run(ctx context.Context, p progress) error {
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return err
	}
	lock, err := waitLock(ctx, filepath.Join(b.cache, "lock"), func() { p.say("waiting for another process that builds the control plane") })
	if err != nil {
		return fmt.Errorf("wait for the build of the control plane: %w", err)
	}
	defer lock.Close()
	if b.done() {
		return nil
	}
	return b.compile(ctx, p)
}

// compile builds to another name first, so that a build that was killed leaves nothing that looks finished.
func (b build) compile(ctx context.Context, p progress) error {
	p.say("building etcd, Kubernetes and kubectl from source: 10 to 25 minutes the first time on two cores, then never again")
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags="+b.linkFlags(), "-o", b.binary()+".part", ".")
	cmd.Dir, cmd.WaitDelay = filepath.Join(b.root, module), 5*time.Second
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	log := watch(p)
	defer log.stop()
	cmd.Stderr = log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w: %s", module, errors.Join(ctx.Err(), err), log.tail())
	}
	return os.Rename(b.binary()+".part", b.binary())
}

func cacheDir() (string, error) {
	if dir := os.Getenv(cacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for built programs: set %s to a directory: %w", cacheEnv, err)
	}
	return filepath.Join(dir, "runner-identity"), nil
}

// readSource finds the version, and a key that changes with all that changes the programs.
func (b *build) readSource() (key string, err error) {
	dir := filepath.Join(b.root, module)
	mod, errMod := os.ReadFile(filepath.Join(dir, "go.mod"))
	main, errMain := os.ReadFile(filepath.Join(dir, "main.go"))
	if err := cmp.Or(errMod, errMain); err != nil {
		return "", err
	}
	found := kubernetesLine.FindSubmatch(mod)
	if found == nil {
		return "", fmt.Errorf("%s/go.mod requires no k8s.io/kubernetes v1.x.y", dir)
	}
	for _, part := range found[1:] {
		b.version = append(b.version, string(part))
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s/%s\n%s\n%s\n%s", runtime.Version(), runtime.GOOS, runtime.GOARCH, b.linkFlags(), mod, main)
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// linkFlags give the programs their version, which their own build scripts do for releases: clients ask for it.
func (b build) linkFlags() string {
	set := func(name, value string) string {
		return fmt.Sprintf(" -X k8s.io/component-base/version.%s=%s -X k8s.io/client-go/pkg/version.%[1]s=%[2]s", name, value)
	}
	return "-s -w" + set("gitVersion", "v"+strings.Join(b.version, ".")) + set("gitMajor", b.version[0]) + set("gitMinor", b.version[1])
}

// envtestVersion is the same Kubernetes, in setup-envtest's words.
func (b build) envtestVersion() string { return b.version[0] + "." + b.version[1] + ".x" }
