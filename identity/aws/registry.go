// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// publicHost is ECR Public, dualPublicHost the same over IPv6.
const (
	publicHost     = "public.ecr.aws"
	dualPublicHost = "ecr-public.aws.com"
)

// A registry is a parsed registry host of ECR.
type registry struct {
	// host is the bare host, with its port if it has one.
	host   string
	public bool
	// account, region and suffix are the parts of a private registry's host.
	account, region, suffix string
	// fips and dual say which kind of API endpoint goes with the host.
	fips, dual bool
}

// privateHost is what Amazon's own credential helpers take, all but the suffix, which is looked up in the partitions.
var privateHost = regexp.MustCompile(`^([0-9]{12})\.dkr[.-]ecr(-fips)?\.([A-Za-z0-9][A-Za-z0-9_-]*)\.(.+)$`)

// parseRegistry parses a host or an image reference, with or without scheme, port, path, tag and digest.
func parseRegistry(s string) (registry, bool) {
	if s == "" {
		return registry{}, false
	}
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.User != nil {
		return registry{}, false
	}
	name := u.Hostname()
	if name == publicHost || name == dualPublicHost {
		return registry{host: u.Host, public: true, dual: name == dualPublicHost}, true
	}
	m := privateHost.FindStringSubmatch(name)
	if m == nil || !slices.Contains(registrySuffixes(), m[4]) {
		return registry{}, false
	}
	return registry{
		host: u.Host, account: m[1], fips: m[2] != "", region: m[3], suffix: m[4],
		dual: strings.HasPrefix(m[4], "on."),
	}, true
}

// parseBareRegistry parses a host that has nothing else around it.
func parseBareRegistry(s string) (registry, bool) {
	r, ok := parseRegistry(s)
	return r, ok && r.host == s
}

// ownRegistry is the registry of the role's account in a region.
func (r role) ownRegistry(region string) registry {
	suffix := r.partition.registrySuffixes[0]
	return registry{
		host:    fmt.Sprintf("%s.dkr.ecr.%s.%s", r.account, region, suffix),
		account: r.account, region: region, suffix: suffix,
	}
}

// registrySuffixes are those of all partitions.
func registrySuffixes() []string {
	var all []string
	for _, p := range partitionTable {
		all = append(all, p.registrySuffixes...)
	}
	return all
}
