// SPDX-License-Identifier: Apache-2.0

// Package runnerimage makes the image of the stand-in runner, laid out as that of GitHub's runner as far as pods can tell: its user,
// home, and the path of the program that a pod starts.
package runnerimage

import (
	"archive/tar"
	"bytes"
	"context"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/runner-identity/runner-identity/testbed/image"
)

const (
	home    = "/home/runner"
	program = home + "/run.sh" // what runner pods start, whichever image they have
	user    = 1001
	pkg     = "github.com/runner-identity/runner-identity/testbed/runner/standin"
)

// Build makes the image on top of base, which may be nil: then jobs have the runner's own commands only.
func Build(ctx context.Context, base v1.Image) (v1.Image, error) {
	img, err := image.Build(ctx, pkg, base)
	if err != nil {
		return nil, err
	}
	if img, err = addHome(img); err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.Config.Entrypoint, file.Config.User, file.Config.WorkingDir = []string{program}, "1001", home
	file.Config.Env = append(file.Config.Env, "HOME="+home, "RUNNER_HOME="+home)
	return mutate.ConfigFile(img, file)
}

// addHome adds the runner's home, with the program under the name that pods know.
func addHome(img v1.Image) (v1.Image, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, h := range []tar.Header{
		{Name: "home/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: home[1:] + "/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: user, Gid: user},
		{Name: program[1:], Typeflag: tar.TypeSymlink, Linkname: "/standin", Mode: 0o777, Uid: user, Gid: user},
	} {
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil })
	if err != nil {
		return nil, err
	}
	return mutate.AppendLayers(img, l)
}
