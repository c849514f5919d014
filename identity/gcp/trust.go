// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.Truster = (*Provider)(nil)

// Placeholders stand in the commands for what is not known.
const (
	issuerPlaceholder = "ISSUER_URL"
	numberPlaceholder = "PROJECT_NUMBER"
)

// Trust says what has to exist at Google, as commands, in the order to run them.
func (*Provider) Trust(r identity.Request) (identity.Trust, error) {
	s, problems := parse(r)
	if err := identity.Problems(problems); err != nil {
		return identity.Trust{}, err
	}
	var docs []identity.Document
	for _, add := range []func(identity.Request) []identity.Document{
		s.setupTrust, s.impersonationTrust, s.registryTrust, s.imagePullTrust, s.quotaTrust, s.namespaceTrust,
	} {
		docs = append(docs, add(r)...)
	}
	if len(docs) == 0 {
		docs = append(docs, identity.Document{Title: "Nothing has to exist but the roles that the jobs need, for this principal", Body: s.principal(r.Namespace, r.Exchange()) + "\n"})
	}
	return identity.Trust{Documents: docs}, nil
}

// setupTrust makes the cluster known to Google.
func (s settings) setupTrust(r identity.Request) []identity.Document {
	w := s.provider
	switch w.kind {
	case ofPool:
		return []identity.Document{{Title: s.poolTitle(r), Body: s.poolCommands(r)}}
	case ofCluster:
		at := fmt.Sprintf("--project %s --location %s", w.project, w.location)
		return []identity.Document{{
			Title: "Workload Identity Federation for GKE, once for each cluster that is not an Autopilot one, and for each of its node pools (replace NODE_POOL)",
			Body: fmt.Sprintf("gcloud container clusters update %s %s --workload-pool %s\n", w.id, at, w.pool) +
				fmt.Sprintf("gcloud container node-pools update NODE_POOL --cluster %s %s --workload-metadata GKE_METADATA\n", w.id, at),
		}}
	case ofFleet:
		return []identity.Document{{
			Title: "Workload identity of the fleet, once for each cluster",
			Body:  fmt.Sprintf("gcloud container fleet memberships describe %s --project %s --location %s --format 'value(authority.workloadIdentityPool)'\n", w.id, w.project, w.location),
		}}
	}
	return nil
}

func (s settings) poolTitle(r identity.Request) string {
	title := "Workload identity pool and provider, once for each cluster; if Google cannot read the issuer over the internet, " +
		"add --jwk-json-path jwks.json with the file that `kubectl get --raw /openid/v1/jwks >jwks.json` writes"
	if r.Issuer == "" {
		title += "; replace " + issuerPlaceholder + " by the issuer that `kubectl get --raw /.well-known/openid-configuration` prints"
	}
	return title
}

func (s settings) poolCommands(r identity.Request) string {
	w := s.provider
	create := fmt.Sprintf("gcloud iam workload-identity-pools create %s --project %s --location global\n", w.pool, w.project)
	create += fmt.Sprintf("gcloud iam workload-identity-pools providers create-oidc %s --project %s --location global --workload-identity-pool %s --issuer-uri %s",
		w.id, w.project, w.pool, quoted(cmp.Or(r.Issuer, issuerPlaceholder)))
	create += ` --attribute-mapping "google.subject=assertion.sub,attribute.namespace=assertion['kubernetes.io']['namespace']"`
	if s.Audience != w.tokenAudience() {
		create += " --allowed-audiences " + quoted(s.Audience)
	}
	return create + "\n"
}

// updateProvider begins the command that changes the provider.
func (s settings) updateProvider() string {
	w := s.provider
	return fmt.Sprintf("gcloud iam workload-identity-pools providers update-oidc %s --project %s --location global --workload-identity-pool %s", w.id, w.project, w.pool)
}

// impersonationTrust lets the accounts be the Google service account: exactly those that have the identity.
func (s settings) impersonationTrust(r identity.Request) []identity.Document {
	if s.direct() {
		return nil
	}
	var commands []string
	for _, name := range r.Bound() {
		commands = append(commands, s.impersonationBinding(s.memberOrPool(r.Namespace, name)))
	}
	return documents("Binding on the Google service account, once for each ServiceAccount", commands)
}

// memberOrPool is the member for a ServiceAccount, also where nobody is known to vouch for it.
func (s settings) memberOrPool(namespace, name string) string {
	if s.provider.kind == noProvider {
		return fmt.Sprintf("serviceAccount:%s[%s/%s]", cmp.Or(s.WorkloadPool, "CLUSTER_PROJECT_ID"+poolSuffix), namespace, name)
	}
	return s.member(namespace, name)
}

func (s settings) impersonationBinding(member string) string {
	return fmt.Sprintf("gcloud iam service-accounts add-iam-policy-binding %s%s --role roles/iam.workloadIdentityUser --member '%s'",
		s.account.email, flag("project", s.account.project), member)
}

// registryTrust lets the principal read the repositories; without their names, all of the project.
func (s settings) registryTrust(r identity.Request) []identity.Document {
	var commands []string
	for _, member := range s.grantees(r) {
		for _, repo := range s.repositories {
			commands = append(commands, grantReader(repo, member))
		}
		if len(s.repositories) == 0 && len(s.hosts) > 0 {
			commands = append(commands, grantOnProject(cmp.Or(s.ProjectID, "PROJECT_ID"), "artifactregistry.reader", member))
		}
	}
	return documents("Reading images; roles/artifactregistry.writer in place of the reader lets jobs push", commands)
}

// grantees are who roles are granted to, one for each account that is a principal of its own.
func (s settings) grantees(r identity.Request) []string {
	var all []string
	for _, name := range r.Bound() {
		if g := s.grantee(r.Namespace, name); !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

// grantee is who roles are granted to for one account.
func (s settings) grantee(namespace, name string) string {
	if !s.direct() {
		return "serviceAccount:" + s.account.email
	}
	return s.member(namespace, name)
}

func grantReader(r repository, member string) string {
	return fmt.Sprintf("gcloud artifacts repositories add-iam-policy-binding %s --project %s --location %s --role roles/artifactregistry.reader --member '%s'",
		r.id, r.project, r.location, member)
}

// imagePullTrust is for the kubelet, which pulls as the ServiceAccount's own principal even if there is a Google service account.
func (s settings) imagePullTrust(r identity.Request) []identity.Document {
	if !s.ImagePull {
		return nil
	}
	var commands []string
	for _, name := range r.Bound() {
		commands = append(commands, grantOnProject(cmp.Or(s.ProjectID, "PROJECT_ID"), "artifactregistry.reader", s.memberOrPool(r.Namespace, name)))
	}
	return documents("Pulls by the kubelet, which are made as the ServiceAccount itself and fail without this", commands)
}

// quotaTrust lets the ServiceAccount spend another project's quota.
func (s settings) quotaTrust(r identity.Request) []identity.Document {
	if s.QuotaProject == "" {
		return nil
	}
	var commands []string
	for _, name := range r.Bound() {
		commands = append(commands, grantOnProject(s.QuotaProject, "serviceusage.serviceUsageConsumer", s.memberOrPool(r.Namespace, name)))
	}
	return documents("Use of the quota project", commands)
}

// namespaceTrust is the wider way: one binding for a whole namespace.
func (s settings) namespaceTrust(r identity.Request) []identity.Document {
	if s.provider.kind == noProvider {
		return nil
	}
	attribute, width := "attribute.namespace", "of the cluster's namespace"
	if s.provider.kind != ofPool {
		attribute, width = "namespace", "of the namespace in every cluster of the project"
	}
	number := cmp.Or(s.poolProject(), numberPlaceholder)
	set := fmt.Sprintf("principalSet://%s/%s/%s", s.poolName(number), attribute, r.Namespace)
	title := "In place of one binding for each ServiceAccount, and wider: this member is every ServiceAccount " + width
	if number == numberPlaceholder {
		title += fmt.Sprintf(" (replace %s by what `gcloud projects describe %s --format='value(projectNumber)'` prints)", numberPlaceholder, s.provider.project)
	}
	if s.direct() {
		return documents(title, []string{set})
	}
	return documents(title, []string{s.impersonationBinding(set)})
}

func grantOnProject(project, role, member string) string {
	return fmt.Sprintf("gcloud projects add-iam-policy-binding %s --role roles/%s --member '%s'", project, role, member)
}

// documents is one document of commands, or none if there are none.
func documents(title string, commands []string) []identity.Document {
	if len(commands) == 0 {
		return nil
	}
	return []identity.Document{{Title: title, Body: strings.Join(commands, "\n") + "\n"}}
}
