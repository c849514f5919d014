// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// dockerHub is the host of images that name none.
const dockerHub = "docker.io"

// ImageHost is the registry host of an image reference, with its port if it has one, and "docker.io" for images that name no host.
func ImageHost(image string) (string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return "", fmt.Errorf("image %q is not an image reference, such as ghcr.io/acme/runner:1.2: %w", image, err)
	}
	host := strings.ToLower(ref.Context().RegistryStr())
	if host == name.DefaultRegistry {
		return dockerHub, nil
	}
	return host, nil
}
