// SPDX-License-Identifier: Apache-2.0

package runnerimage_test

import (
	"archive/tar"
	"errors"
	"io"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/testbed/image"
	"github.com/runner-identity/runner-identity/testbed/runner/runnerimage"
)

func TestTheImageLooksLikeThatOfGitHubsRunner(t *testing.T) {
	base, err := image.AddFiles(empty.Image, map[string][]byte{"/etc/ssl/certs/ca-certificates.crt": []byte("authorities")})
	require.NoError(t, err)
	img, err := runnerimage.Build(t.Context(), base)
	require.NoError(t, err)

	type file struct {
		kind byte
		uid  int
		link string
	}
	files := map[string]file{}
	r := mutate.Extract(img)
	defer r.Close()
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		files[h.Name] = file{h.Typeflag, h.Uid, h.Linkname}
	}
	assert.Equal(t, file{tar.TypeSymlink, 1001, "/standin"}, files["home/runner/run.sh"])
	assert.Equal(t, file{tar.TypeDir, 1001, ""}, files["home/runner"])
	assert.Equal(t, file{tar.TypeReg, 0, ""}, files["standin"])
	assert.Contains(t, files, "etc/ssl/certs/ca-certificates.crt")

	config, err := img.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, "1001", config.Config.User)
	assert.Equal(t, []string{"/home/runner/run.sh"}, config.Config.Entrypoint)
	assert.Equal(t, []string{"HOME=/home/runner", "RUNNER_HOME=/home/runner"}, config.Config.Env)
}
