// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/runner-identity/runner-identity/identity/token"
)

const (
	exampleProvider = "projects/123456789012/locations/global/workloadIdentityPools/POOL/providers/PROVIDER"
	exampleCluster  = "https://container.googleapis.com/v1/projects/acme-ci/locations/europe-west1/clusters/ci"
)

// poolSuffix ends the name of each project's own workload pool.
const poolSuffix = ".svc.id.goog"

var (
	poolProvider    = regexp.MustCompile(`^projects/([^/]+)/locations/([^/]+)/workloadIdentityPools/([a-z0-9-]+)/providers/([a-z0-9-]+)$`)
	clusterProvider = regexp.MustCompile(`^https://container\.[a-z0-9.-]+/v1/projects/([a-z0-9.:-]+)/locations/([a-z0-9-]+)/clusters/([a-z0-9-]+)$`)
	memberProvider  = regexp.MustCompile(`^https://gkehub\.[a-z0-9.-]+/projects/([a-z0-9.:-]+)/locations/([a-z0-9-]+)/memberships/([a-z0-9-]+)$`)
	digits          = regexp.MustCompile(`^[0-9]+$`)
)

// A workloadProvider is who vouches for a cluster's tokens at Google. The zero one is nobody.
type workloadProvider struct {
	kind providerKind
	// name is as the user writes it.
	name string
	// project is the id of the project of a cluster or a fleet, and the number of that of a pool.
	project string
	// location and id are those of the cluster, the membership or the provider.
	location, id string
	// pool is the workload pool: an id in the project of a provider, a name of its own for cluster and fleet.
	pool string
}

type providerKind uint8

const (
	noProvider providerKind = iota
	// ofPool is a provider in a workload identity pool: any cluster.
	ofPool
	// ofCluster is a GKE cluster.
	ofCluster
	// ofFleet is a membership of a fleet.
	ofFleet
)

// parseWorkloadProvider parses the name of a provider. The error quotes it and shows a right one.
func parseWorkloadProvider(s string) (workloadProvider, error) {
	if m := clusterProvider.FindStringSubmatch(s); m != nil {
		return workloadProvider{kind: ofCluster, name: s, project: m[1], location: m[2], id: m[3], pool: m[1] + poolSuffix}, nil
	}
	if m := memberProvider.FindStringSubmatch(s); m != nil {
		return workloadProvider{kind: ofFleet, name: s, project: m[1], location: m[2], id: m[3], pool: m[1] + poolSuffix}, nil
	}
	m := poolProvider.FindStringSubmatch(s)
	switch {
	case m == nil:
		return workloadProvider{}, fmt.Errorf("%q is not %s", s, whatIsWrong(s))
	case !digits.MatchString(m[1]):
		return workloadProvider{}, fmt.Errorf("%q has the project's id %q; STS takes its number only, which `gcloud projects describe %s --format='value(projectNumber)'` prints", s, m[1], m[1])
	case m[2] != "global":
		return workloadProvider{}, fmt.Errorf("%q: location %q is not global, the only one that pools have", s, m[2])
	}
	return workloadProvider{kind: ofPool, name: s, project: m[1], location: m[2], pool: m[3], id: m[4]}, nil
}

// whatIsWrong says what a text would have to be, with a hint at the usual mistakes.
func whatIsWrong(s string) string {
	right := "the name of a workload identity provider, such as " + exampleProvider + ", nor the URL of a GKE cluster or a fleet membership"
	switch {
	case strings.HasSuffix(s, poolSuffix):
		return right + ": it is a workload pool; on GKE leave the field empty, or write the cluster's URL, such as " + exampleCluster
	case strings.HasPrefix(s, "//iam.") || strings.HasPrefix(s, "https://iam."):
		return right + ": write it from \"projects/\" on, without host and slashes"
	}
	return right
}

// stsAudience is what STS calls the provider.
func (w workloadProvider) stsAudience() string {
	if w.kind == ofPool {
		return "//iam.googleapis.com/" + w.name
	}
	return "identitynamespace:" + w.pool + ":" + w.name
}

// tokenAudience is the audience of tokens that the provider takes if it is not told otherwise.
func (w workloadProvider) tokenAudience() string {
	if w.kind == ofPool {
		return "https://iam.googleapis.com/" + w.name
	}
	return w.pool
}

// subject is what Google calls a ServiceAccount.
func (w workloadProvider) subject(namespace, account string) string {
	if w.kind == ofPool {
		return token.Subject(namespace, account)
	}
	return "ns/" + namespace + "/sa/" + account
}
