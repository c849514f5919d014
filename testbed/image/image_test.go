// SPDX-License-Identifier: Apache-2.0

package image_test

import (
	"archive/tar"
	"errors"
	"io"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/runner-identity/runner-identity/testbed/image"
)

const toolbox = "github.com/runner-identity/runner-identity/testbed/image/toolbox"

// modes are the files of an image.
func modes(t *testing.T, img v1.Image) map[string]int64 {
	t.Helper()
	files := map[string]int64{}
	r := mutate.Extract(img)
	defer r.Close()
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		files[h.Name] = h.Mode
	}
}

func TestAnImageHoldsTheProgramAndRunsIt(t *testing.T) {
	img, err := image.Build(t.Context(), toolbox, nil)
	require.NoError(t, err)

	assert.Equal(t, map[string]int64{"tmp": 0o1777, "toolbox": 0o755}, modes(t, img))
	file, err := img.ConfigFile()
	require.NoError(t, err)
	assert.Equal(t, []string{"/toolbox"}, file.Config.Entrypoint)
	assert.Equal(t, "linux", file.OS)
}

func TestAnImageIsBasedOnAnother(t *testing.T) {
	base, err := image.Build(t.Context(), toolbox, nil)
	require.NoError(t, err)
	base, err = image.AddFiles(base, map[string][]byte{"/etc/ssl/certs/ca-certificates.crt": []byte("authorities")})
	require.NoError(t, err)

	img, err := image.Build(t.Context(), strings.Replace(toolbox, "toolbox", "pause", 1), base)
	require.NoError(t, err)

	assert.Equal(t, map[string]int64{"tmp": 0o1777, "toolbox": 0o755, "pause": 0o755, "etc/ssl/certs/ca-certificates.crt": 0o644}, modes(t, img))
}

func TestAPushedImageIsPulledUnchanged(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	img, err := image.Build(t.Context(), toolbox, nil)
	require.NoError(t, err)
	ref := strings.TrimPrefix(server.URL, "http://") + "/team/toolbox:1"

	require.NoError(t, image.Push(t.Context(), ref, img))

	tag, err := name.ParseReference(ref)
	require.NoError(t, err)
	pulled, err := remote.Image(tag)
	require.NoError(t, err)
	want, err := img.Digest()
	require.NoError(t, err)
	got, err := pulled.Digest()
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestAProgramThatDoesNotCompileIsNamed(t *testing.T) {
	_, err := image.Build(t.Context(), "github.com/runner-identity/runner-identity/testbed/absent", nil)
	assert.ErrorContains(t, err, "testbed/absent")
}

func TestTheToolboxSaysWhatItCannotDo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "toolbox")
	require.NoError(t, image.Compile(t.Context(), toolbox, program))

	out, err := exec.CommandContext(t.Context(), program, "cat", "/absent").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "/absent: no such file")

	out, err = exec.CommandContext(t.Context(), program, "dance").CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), `command "dance": must be wait, cat, ls, get or id`)
}
