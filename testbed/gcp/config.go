// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"time"

	"k8s.io/utils/clock"
)

// longest is how long Google's access tokens live if nothing else is said.
const longest = time.Hour

// A Config is the cloud as an administrator would have set it up.
type Config struct {
	// Clock is the simulator's; the machine's if it is nil.
	Clock clock.Clock
	// Providers are who vouches for tokens.
	Providers []Provider
	// ServiceAccounts are the Google service accounts by e-mail.
	ServiceAccounts map[string]ServiceAccount
	// Repositories are Artifact Registry's, by name: projects/P/locations/L/repositories/R.
	Repositories map[string]Repository
	// Lifetimes are those of what is issued.
	Lifetimes Lifetimes
	// Logger gets a line per call, never with a secret; nil logs nothing.
	Logger *slog.Logger
}

// A Provider is a workload identity provider or a GKE cluster.
type Provider struct {
	// Name is projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/ID, or the URL of a cluster or membership.
	Name string `json:"name"`
	// Issuer is the issuer as tokens name it.
	Issuer string `json:"issuer"`
	// JWKS is where the issuer's keys are, asked for with Client. Google finds them by the issuer's discovery document, or has
	// them uploaded; a cluster on a laptop has an issuer URL that resolves nowhere, so it is given apart.
	JWKS string `json:"jwks"`
	// Audiences are those that the provider takes. Default: its own name, with https: and without; a cluster's is its Pool.
	Audiences []string `json:"audiences,omitempty"`
	// Pool and ProjectNumber are those of a cluster or a fleet.
	Pool          string `json:"pool,omitempty"`
	ProjectNumber string `json:"projectNumber,omitempty"`
	// Namespaces is the attribute condition: only ServiceAccounts of these. Empty: all.
	Namespaces []string `json:"namespaces,omitempty"`
	// Disabled is whether the provider is switched off.
	Disabled bool `json:"disabled,omitempty"`
	// Client fetches the keys; http.DefaultClient if it is nil.
	Client *http.Client `json:"-"`
}

// A ServiceAccount is a Google service account.
type ServiceAccount struct {
	// WorkloadIdentityUsers are the members that have roles/iam.workloadIdentityUser on it.
	WorkloadIdentityUsers []string `json:"workloadIdentityUsers"`
	// ExtendedLifetime is whether the organization's policy lets its tokens live up to 12 hours.
	ExtendedLifetime bool `json:"extendedLifetime,omitempty"`
}

// A Repository is one of Artifact Registry's.
type Repository struct {
	// Format is DOCKER if it is empty.
	Format string `json:"format,omitempty"`
	// Bindings are the members by role or, for what no role gives, by permission.
	Bindings map[string][]string `json:"bindings"`
}

var (
	repositoryName = regexp.MustCompile(`^projects/[^/]+/locations/[a-z0-9-]+/repositories/[^/]+$`)
	poolName       = regexp.MustCompile(`^projects/([0-9]+)/locations/global/workloadIdentityPools/([a-z0-9-]+)/providers/[a-z0-9-]+$`)
	clusterName    = regexp.MustCompile(`^https://(container|gkehub)\.[a-z0-9.-]+/(v1/)?projects/[^/]+/locations/[^/]+/(clusters|memberships)/[^/]+$`)
)

func (c Config) validate() error {
	for _, p := range c.Providers {
		if p.Issuer == "" || p.JWKS == "" {
			return fmt.Errorf("provider %q: issuer and jwks must both be set", p.Name)
		}
		if !poolName.MatchString(p.Name) && (!clusterName.MatchString(p.Name) || p.Pool == "") {
			return fmt.Errorf("provider %q: neither the name of a workload identity provider nor the URL of a cluster with a pool", p.Name)
		}
	}
	for name, repo := range c.Repositories {
		if !repositoryName.MatchString(name) {
			return fmt.Errorf("repository %q: not projects/P/locations/L/repositories/R", name)
		}
		for role := range repo.Bindings {
			if len(permissions(role)) == 0 {
				return fmt.Errorf("repository %q: role %q is not one of Artifact Registry's", name, role)
			}
		}
	}
	return nil
}

// The permissions that pulls, pushes and a look at the repository need.
const (
	permissionDownload = "artifactregistry.repositories.downloadArtifacts"
	permissionUpload   = "artifactregistry.repositories.uploadArtifacts"
	permissionGet      = "artifactregistry.repositories.get"
)

// permissions are what a role gives. A permission gives itself.
func permissions(role string) []string {
	switch role {
	case "roles/artifactregistry.reader":
		return []string{permissionDownload, permissionGet}
	case "roles/artifactregistry.writer":
		return []string{permissionDownload, permissionUpload, permissionGet}
	case permissionDownload, permissionUpload, permissionGet:
		return []string{role}
	}
	return nil
}

// allows reports whether one of the members has the permission.
func (r Repository) allows(members []string, permission string) bool {
	for role, bound := range r.Bindings {
		if slices.Contains(permissions(role), permission) && overlap(bound, members) {
			return true
		}
	}
	return false
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
