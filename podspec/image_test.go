// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/podspec"
)

func TestImageHost(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for image, want := range map[string]string{
		"busybox":                                              "docker.io",
		"library/busybox:1.37":                                 "docker.io",
		"docker.io/library/busybox":                            "docker.io",
		"index.docker.io/library/busybox":                      "docker.io",
		"ghcr.io/actions/actions-runner:2":                     "ghcr.io",
		"localhost:5000/a":                                     "localhost:5000",
		"localhost/a":                                          "localhost",
		"public.ecr.aws/docker/library/redis":                  "public.ecr.aws",
		"111122223333.dkr.ecr.eu-west-1.amazonaws.com/build:1": "111122223333.dkr.ecr.eu-west-1.amazonaws.com",
		"111122223333.dkr.ecr.eu-west-1.amazonaws.com/build" + digest:   "111122223333.dkr.ecr.eu-west-1.amazonaws.com",
		"111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/b:1" + digest: "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn",
		"europe-docker.pkg.dev/acme-ci/images/build:1":                  "europe-docker.pkg.dev",
		"Registry.Acme.Example/a:1":                                     "registry.acme.example",
	} {
		host, err := podspec.ImageHost(image)
		require.NoError(t, err, image)
		assert.Equal(t, want, host, image)
	}
}

func TestImageHostOfWhatIsNoImage(t *testing.T) {
	for _, image := range []string{"", "UPPER/Case", "https://ghcr.io/a", "a:b:c", "a b", "a@sha256:short", "ghcr.io/"} {
		_, err := podspec.ImageHost(image)
		assert.ErrorContains(t, err, `"`+image+`" is not an image reference, such as`)
	}
}
