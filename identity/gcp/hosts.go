// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"net"
	"regexp"
	"strings"
)

// exampleHost is what messages show as right.
const exampleHost = "europe-west1-docker.pkg.dev"

// s3nsHost is the one host of the universe s3nsapis.fr.
const s3nsHost = "docker.s3nsregistry.fr"

const region = `[a-z]+-[a-z]+[0-9]+`

var (
	// pkgHost is the host of a region or a multi-region, repHost the regional endpoint.
	pkgHost = regexp.MustCompile(`^(` + region + `|us|europe|asia)-docker\.pkg\.dev$`)
	repHost = regexp.MustCompile(`^docker\.(` + region + `)\.rep\.pkg\.dev$`)

	regionName = regexp.MustCompile(`^` + region + `$`)
)

// A registry is a parsed registry host of Google.
type registry struct {
	// host is the bare host, with its port if it has one.
	host string
	// location is where its repositories are.
	location string
	// repository is the name of the one repository behind a host that Container Registry left behind.
	repository string
}

// parseRegistry parses a bare host. Globs such as *.pkg.dev are none: docker knows none, and the kubelet's stand for one label.
func parseRegistry(host string) (registry, bool) {
	name := host
	if bare, port, err := net.SplitHostPort(host); err == nil && digits.MatchString(port) {
		name = bare
	}
	if m := pkgHost.FindStringSubmatch(name); m != nil {
		return registry{host: host, location: m[1]}, true
	}
	if m := repHost.FindStringSubmatch(name); m != nil {
		return registry{host: host, location: m[1]}, true
	}
	if name == s3nsHost {
		return registry{host: host, location: "u-france-east1"}, true
	}
	if location, ok := legacyLocation(name); ok {
		return registry{host: host, location: location, repository: name}, true
	}
	return registry{}, false
}

// legacyLocation is where Artifact Registry keeps what Container Registry had at a host.
func legacyLocation(host string) (string, bool) {
	switch host {
	case "gcr.io", "us.gcr.io", "marketplace.gcr.io":
		return "us", true
	case "eu.gcr.io":
		return "europe", true
	case "asia.gcr.io":
		return "asia", true
	}
	return "", false
}

func notARegistry(host string) string {
	bare := strings.TrimPrefix(strings.TrimPrefix(host, "https://"), "oci://")
	if bare, _, _ = strings.Cut(bare, "/"); bare != host {
		if _, ok := parseRegistry(bare); ok {
			return fmt.Sprintf("%q is not a bare host; write %q", host, bare)
		}
	}
	return fmt.Sprintf("%q is not a registry of Google, such as %s or gcr.io", host, exampleHost)
}
