// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// The keys of Workload Identity Federation for GKE.
const (
	annotationAccount     = "iam.gke.io/gcp-service-account"
	annotationPrincipalID = "iam.gke.io/return-principal-id-as-email"
	annotationQuota       = "iam.gke.io/credential-quota-project"
	annotationImagePull   = "iam.gke.io/enable-wi-image-pull"

	labelMetadataServer = "iam.gke.io/gke-metadata-server-enabled"
)

// metadataServer is where GKE's metadata server listens on every node.
const metadataServer = "169.254.169.254"

// annotate leaves tokens to GKE's metadata server, which knows a pod by its address and reads its account's annotations.
func (s settings) annotate(p *identity.Plan, targets identity.Target) {
	annotations := map[string]string{}
	for key, value := range map[string]string{
		annotationAccount:     s.account.email,
		annotationPrincipalID: yes(s.PrincipalIDAsEmail),
		annotationQuota:       s.QuotaProject,
		annotationImagePull:   yes(s.ImagePull),
	} {
		if value != "" {
			annotations[key] = value
		}
	}
	if len(annotations) > 0 {
		p.Accounts = []identity.Metadata{{Annotations: annotations, For: targets}}
	}
	if s.NodeSelector == v1alpha1.GCPNodeSelectorAlways {
		p.Pods = []identity.PodMetadata{{NodeSelector: map[string]string{labelMetadataServer: "true"}, Metadata: identity.Metadata{For: targets}}}
	}
	p.Env = s.metadataEnv(targets)
	p.Waits = []identity.Wait{s.metadataWait(targets)}
}

// metadataWait asks for what the jobs will ask for. GKE's metadata server knows a pod some seconds after its start; until then
// client libraries of every language fail, or take the node for a machine outside of Google.
func (s settings) metadataWait(targets identity.Target) identity.Wait {
	return identity.Wait{
		Name:   "metadata-server",
		URL:    "http://" + cmp.Or(s.Endpoints.Metadata, metadataServer) + "/computeMetadata/v1/instance/service-accounts/default/token",
		Header: map[string]string{"Metadata-Flavor": "Google"},
		For:    targets,
	}
}

// metadataEnv names the metadata server by its address. Clients that are told do not probe for it, so a server that needs
// seconds to start is not taken for none, and containers whose resolver does not know metadata.google.internal find it.
func (s settings) metadataEnv(targets identity.Target) []identity.Env {
	e := env{target: targets}
	host := cmp.Or(s.Endpoints.Metadata, metadataServer)
	// The first is for the client libraries, the second for gcloud.
	e.add("GCE_METADATA_HOST", host)
	e.add("GCE_METADATA_ROOT", host)
	// Python's probe goes to an address of its own; by default it is the right one.
	e.add("GCE_METADATA_IP", s.Endpoints.Metadata)
	e.project(s)
	return e.vars
}
