// SPDX-License-Identifier: Apache-2.0

// Package image makes container images of Go programs, without a container engine. An image holds one static program, /tmp,
// and what it is based on.
package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Build makes an image that runs the program of a Go package, which is found as the go command finds it. The program is at /
// under the last name of pkg's path. base may be nil: then nothing else is in the image.
func Build(ctx context.Context, pkg string, base v1.Image) (v1.Image, error) {
	program, err := compile(ctx, pkg)
	if err != nil {
		return nil, err
	}
	at := "/" + path.Base(pkg)
	img, err := add(cmp.Or(base, empty.Image), entry{"tmp/", nil, 0o1777}, entry{at, program, 0o755})
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config.Entrypoint, file.Config.Cmd = []string{at}, nil
	return mutate.ConfigFile(img, file)
}

// AddFiles adds files that everybody may read, by absolute path.
func AddFiles(img v1.Image, files map[string][]byte) (v1.Image, error) {
	var entries []entry
	for _, at := range slices.Sorted(maps.Keys(files)) {
		entries = append(entries, entry{at, files[at], 0o644})
	}
	return add(img, entries...)
}

// Push puts an image into a registry.
func Push(ctx context.Context, ref string, img v1.Image, o ...remote.Option) error {
	tag, err := name.ParseReference(ref)
	if err != nil {
		return err
	}
	return remote.Write(tag, img, append(o, remote.WithContext(ctx))...)
}

// Import puts an image into the image store of kubelets in the containerd that listens at a socket.
func Import(ctx context.Context, socket, ref string, img v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	return withFile(func(file string) error {
		if err := tarball.WriteToFile(file, tag, img); err != nil {
			return err
		}
		return run(exec.CommandContext(ctx, "ctr", "--address="+socket, "--namespace=k8s.io", "images", "import", file))
	})
}

func compile(ctx context.Context, pkg string) (program []byte, err error) {
	err = withFile(func(file string) (err error) {
		if err = Compile(ctx, pkg, file); err == nil {
			program, err = os.ReadFile(file)
		}
		return err
	})
	return program, err
}

// withFile calls a function with the path of a file that is removed after it.
func withFile(use func(file string) error) error {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	return errors.Join(use(filepath.Join(dir, "file")), os.RemoveAll(dir))
}

// Compile makes the static program for Linux that Build puts into an image.
func Compile(ctx context.Context, pkg, file string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	return run(cmd)
}

// run puts what a command complains about into the error.
func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// An entry is a file, or a directory if its path ends in a slash.
type entry struct {
	path    string
	content []byte
	mode    int64
}

// add adds one layer.
func add(img v1.Image, entries ...entry) (v1.Image, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, e := range entries {
		h := &tar.Header{Name: strings.TrimPrefix(e.path, "/"), Mode: e.mode, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.path, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("file %q: %w", e.path, err)
		}
		_, _ = w.Write(e.content) // into memory
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil },
		tarball.WithCompressionLevel(gzip.BestSpeed))
	if err != nil {
		return nil, err
	}
	return mutate.AppendLayers(img, l)
}
