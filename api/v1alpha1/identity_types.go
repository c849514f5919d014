// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// IdentityTarget is who gets an identity.
// +kubebuilder:validation:Enum=Runner;Job
type IdentityTarget string

// Targets.
const (
	// TargetRunner is the runner pod.
	TargetRunner IdentityTarget = "Runner"
	// TargetJob is the job pods and step pods that the runner's container hook creates.
	TargetJob IdentityTarget = "Job"
)

// Delivery is the carrier of the job's part of an identity.
// +kubebuilder:validation:Enum=Admission;HookTemplate;WorkVolume
type Delivery string

// Carriers.
const (
	DeliveryAdmission    Delivery = "Admission"
	DeliveryHookTemplate Delivery = "HookTemplate"
	DeliveryWorkVolume   Delivery = "WorkVolume"
)

// ServiceAccountNames names the ServiceAccounts of an identity. An account that exists already is adopted: the binding is
// added to it, and it is never owned or deleted.
type ServiceAccountNames struct {
	// runner is the account of runner pods. Default: <name>-runner.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",messageExpression="\"runner: '\" + self + \"' is not a ServiceAccount name: lower-case letters, digits, '-' and '.'\""
	Runner string `json:"runner,omitempty"`
	// job is the account of job pods. Default: <name>-job.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",messageExpression="\"job: '\" + self + \"' is not a ServiceAccount name: lower-case letters, digits, '-' and '.'\""
	Job string `json:"job,omitempty"`
}

// Identity is what a runner asks of its identity provider.
// +kubebuilder:validation:XValidation:rule="!(has(self.aws) && has(self.gcp))",message="aws and gcp are both set: set the one that identityProvider names"
type Identity struct {
	// serviceAccounts names the accounts of the runner and of its jobs.
	// +optional
	ServiceAccounts ServiceAccountNames `json:"serviceAccounts,omitzero"`
	// targets says who gets the identity. Default: [Job] with containerMode kubernetes, so that the runner, which may create
	// pods, holds no cloud rights; else [Runner].
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=2
	Targets []IdentityTarget `json:"targets,omitempty"`
	// delivery is the carrier of the job's part: Admission, HookTemplate or WorkVolume.
	// +optional
	// +kubebuilder:default=Admission
	Delivery Delivery `json:"delivery,omitempty"`
	// registries are the registry hosts to log in to, such as 111122223333.dkr.ecr.eu-west-1.amazonaws.com.
	// Default: those of the pods' images that the provider serves, and the principal's own registry.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.all(h, h.matches('^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?$'))",messageExpression="\"registries: '\" + self.filter(h, !h.matches('^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?$'))[0] + \"' is not a bare registry host: no scheme and no path, such as 111122223333.dkr.ecr.eu-west-1.amazonaws.com\""
	Registries []string `json:"registries,omitempty"`
	// aws are the settings of the provider plug-in aws.
	// +optional
	AWS *AWSIdentity `json:"aws,omitempty"`
	// gcp are the settings of the provider plug-in gcp.
	// +optional
	GCP *GCPIdentity `json:"gcp,omitempty"`
	// parameters are the settings of a provider plug-in that is not built in.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Parameters map[string]string `json:"parameters,omitempty"`
}

// AWSBinding is how a ServiceAccount is bound to its role.
// +kubebuilder:validation:Enum=Inject;Annotate
type AWSBinding string

// AWSMode is how a pod proves who it is.
// +kubebuilder:validation:Enum=WebIdentity;PodIdentity
type AWSMode string

// Bindings and modes.
const (
	// AWSInject puts token and variables into the pods ourselves: works on every cluster.
	AWSInject AWSBinding = "Inject"
	// AWSAnnotate annotates the ServiceAccount and leaves the pods to the EKS pod identity webhook.
	AWSAnnotate AWSBinding = "Annotate"
	// AWSWebIdentity is IAM Roles for Service Accounts.
	AWSWebIdentity AWSMode = "WebIdentity"
	// AWSPodIdentity is EKS Pod Identity.
	AWSPodIdentity AWSMode = "PodIdentity"
)

// AWSIdentity are the settings of the provider plug-in aws.
// +kubebuilder:validation:XValidation:rule="!(has(self.mode) && self.mode == 'PodIdentity' && has(self.binding) && self.binding == 'Annotate')",message="binding: Annotate works with mode WebIdentity only; with mode PodIdentity the role comes from the cluster's PodIdentityAssociation"
// +kubebuilder:validation:XValidation:rule="!(has(self.mode) && self.mode == 'PodIdentity' && has(self.chain) && size(self.chain) > 0)",message="chain: works with mode WebIdentity only; with mode PodIdentity set targetRoleArn on the PodIdentityAssociation"
// +kubebuilder:validation:XValidation:rule="!(has(self.binding) && self.binding == 'Annotate' && has(self.chain) && size(self.chain) > 0)",message="chain: works with binding Inject only; the EKS webhook knows one role"
type AWSIdentity struct {
	// roleARN is the IAM role, such as arn:aws:iam::111122223333:role/ci. Not used with mode PodIdentity.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^arn:aws[a-z0-9-]*:iam::[0-9]{12}:role/[A-Za-z0-9_/.@+=,-]+$')",messageExpression="\"roleARN: '\" + self + \"' is not the ARN of an IAM role, such as arn:aws:iam::111122223333:role/ci\""
	RoleARN string `json:"roleARN,omitempty"`
	// region is the AWS region of STS and of the SDKs, such as eu-west-1. Default: that of the first registry host, else the
	// admin's default.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Region string `json:"region,omitempty"`
	// chain are roles to assume one after the other, starting from roleARN; the last one is the pods' principal.
	// A chained session lasts one hour at most.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.all(a, a.matches('^arn:aws[a-z0-9-]*:iam::[0-9]{12}:role/[A-Za-z0-9_/.@+=,-]+$'))",messageExpression="\"chain: '\" + self.filter(a, !a.matches('^arn:aws[a-z0-9-]*:iam::[0-9]{12}:role/[A-Za-z0-9_/.@+=,-]+$'))[0] + \"' is not the ARN of an IAM role, such as arn:aws:iam::111122223333:role/deploy\""
	Chain []string `json:"chain,omitempty"`
	// sessionName is what CloudTrail shows, 2 to 64 characters of A-Z a-z 0-9 _ + = , . @ -. Default: <namespace>-<name>.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[A-Za-z0-9_+=,.@-]{2,64}$')",messageExpression="\"sessionName: '\" + self + \"' is not a session name: 2 to 64 of A-Z a-z 0-9 _ + = , . @ -\""
	SessionName string `json:"sessionName,omitempty"`
	// binding: Inject (default) or Annotate.
	// +optional
	Binding AWSBinding `json:"binding,omitempty"`
	// mode: WebIdentity (default) or PodIdentity.
	// +optional
	Mode AWSMode `json:"mode,omitempty"`
	// audience of the token. Default: sts.amazonaws.com.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	Audience string `json:"audience,omitempty"`
	// tokenLifetime is the lifetime of the projected token, 10m to 24h. Default: 24h in pods.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?[hms])+$') && duration(self) >= duration('10m') && duration(self) <= duration('24h')",messageExpression="\"tokenLifetime: '\" + self + \"' is not a duration between 10m and 24h, such as 12h\""
	TokenLifetime *metav1.Duration `json:"tokenLifetime,omitempty"`
	// allowInstanceMetadata leaves the fall-back to the node's own role switched on. Default: off, so that a broken identity
	// fails instead of silently using the node's.
	// +optional
	AllowInstanceMetadata bool `json:"allowInstanceMetadata,omitempty"`
}

// GCPMode is how a pod proves who it is to Google.
// +kubebuilder:validation:Enum=Metadata;Federation
type GCPMode string

// Modes.
const (
	// GCPMetadata is Workload Identity Federation for GKE, through GKE's metadata server.
	GCPMetadata GCPMode = "Metadata"
	// GCPFederation is Workload Identity Federation with a projected token: any cluster.
	GCPFederation GCPMode = "Federation"
)

// GCPNodeSelector is whether pods ask for nodes with GKE's metadata server.
// +kubebuilder:validation:Enum=Never;Always
type GCPNodeSelector string

// Node selectors.
const (
	// GCPNodeSelectorNever adds none: right on Autopilot, which refuses it, and where all node pools have the metadata server.
	GCPNodeSelectorNever GCPNodeSelector = "Never"
	// GCPNodeSelectorAlways keeps pods off node pools without the metadata server, where they would be the node.
	GCPNodeSelectorAlways GCPNodeSelector = "Always"
)

// GCPIdentity are the settings of the provider plug-in gcp.
// +kubebuilder:validation:XValidation:rule="!(has(self.nodeSelector) && self.nodeSelector == 'Always' && has(self.mode) && self.mode == 'Federation')",message="nodeSelector: Always works with mode Metadata only; with mode Federation no metadata server is asked"
// +kubebuilder:validation:XValidation:rule="!(has(self.principalIDAsEmail) && self.principalIDAsEmail && has(self.serviceAccount) && size(self.serviceAccount) > 0)",message="principalIDAsEmail: works without serviceAccount only; with one, pods see its e-mail"
// +kubebuilder:validation:XValidation:rule="!(has(self.principalIDAsEmail) && self.principalIDAsEmail && has(self.mode) && self.mode == 'Federation')",message="principalIDAsEmail: works with mode Metadata only; leave it out"
// +kubebuilder:validation:XValidation:rule="!(has(self.imagePull) && self.imagePull && has(self.mode) && self.mode == 'Federation')",message="imagePull: works with mode Metadata only; with mode Federation the registry Secret is what images are pulled with"
type GCPIdentity struct {
	// serviceAccount is the Google service account to impersonate, such as ci@acme-ci.iam.gserviceaccount.com.
	// Empty: the ServiceAccount's own federated principal is used directly.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([a-z0-9.:-]*[a-z0-9])?@([a-z0-9]([a-z0-9-]*[a-z0-9])?[.])+gserviceaccount[.]com$')",messageExpression="\"serviceAccount: '\" + self + \"' is not the e-mail of a Google service account, such as ci@acme-ci.iam.gserviceaccount.com\""
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// workloadIdentityProvider is who vouches for the cluster's tokens at Google: a provider of a workload identity pool, with
	// the project's number, projects/123456789012/locations/global/workloadIdentityPools/POOL/providers/PROVIDER; a GKE
	// cluster, https://container.googleapis.com/v1/projects/PROJECT/locations/LOCATION/clusters/CLUSTER; or a fleet membership,
	// https://gkehub.googleapis.com/projects/PROJECT/locations/LOCATION/memberships/MEMBERSHIP.
	// Default: the cluster's issuer, if that is a GKE cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^projects/[0-9]+/locations/global/workloadIdentityPools/[a-z0-9-]+/providers/[a-z0-9-]+$') || self.matches('^https://container[.][a-z0-9.-]+/v1/projects/[a-z0-9.:-]+/locations/[a-z0-9-]+/clusters/[a-z0-9-]+$') || self.matches('^https://gkehub[.][a-z0-9.-]+/projects/[a-z0-9.:-]+/locations/[a-z0-9-]+/memberships/[a-z0-9-]+$')",messageExpression="\"workloadIdentityProvider: '\" + self + \"' is neither projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER, with the project's number, nor the URL of a GKE cluster or a fleet membership\""
	WorkloadIdentityProvider string `json:"workloadIdentityProvider,omitempty"`
	// workloadPool is the pool of a GKE cluster or a fleet, such as acme-ci.svc.id.goog. Default: that of the project in
	// workloadIdentityProvider. Not used with a provider of a workload identity pool, which names its pool.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([a-z0-9.:-]*[a-z0-9])?[.]svc[.]id[.]goog$') || self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?[.]global[.][0-9]+[.]workload[.]id[.]goog$')",messageExpression="\"workloadPool: '\" + self + \"' is not a workload pool, such as acme-ci.svc.id.goog\""
	WorkloadPool string `json:"workloadPool,omitempty"`
	// projectID is the project of the jobs, such as acme-ci. Default: that of serviceAccount.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?:)?[a-z]([a-z0-9-]*[a-z0-9])?$')",messageExpression="\"projectID: '\" + self + \"' is not the id of a project, such as acme-ci; numbers and display names are not\""
	ProjectID string `json:"projectID,omitempty"`
	// projectNumber is the number of the project of the GKE cluster or fleet, such as 123456789012: the name of a principal
	// that is used without a Google service account has it. Not used with a provider of a workload identity pool.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[0-9]+$')",messageExpression="\"projectNumber: '\" + self + \"' is not the number of a project, such as 123456789012\""
	ProjectNumber string `json:"projectNumber,omitempty"`
	// mode: Metadata or Federation. Default: Federation if workloadIdentityProvider is a provider of a workload identity pool or
	// a fleet membership, else Metadata.
	// +optional
	Mode GCPMode `json:"mode,omitempty"`
	// region is the default region of gcloud, such as europe-west1; the registry of that region is then logged in to.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z]+-[a-z]+[0-9]+$')",messageExpression="\"region: '\" + self + \"' is not a region of Google Cloud, such as europe-west1; zones and multi-regions are not\""
	Region string `json:"region,omitempty"`
	// repositories are the Artifact Registry repositories that the identity has to be able to read, such as
	// europe-west1-docker.pkg.dev/acme-ci/images. The probe checks each; their hosts are logged in to.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	Repositories []string `json:"repositories,omitempty"`
	// audience of the token. Default: https://iam.googleapis.com/ and the provider's name; with a GKE cluster or a fleet
	// it is the workload pool, and cannot be another.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Audience string `json:"audience,omitempty"`
	// tokenLifetime is the lifetime of the projected token, 10m to 24h. Default: 24h. Without serviceAccount an access token
	// never lives longer than what is left of it.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?[hms])+$') && duration(self) >= duration('10m') && duration(self) <= duration('24h')",messageExpression="\"tokenLifetime: '\" + self + \"' is not a duration between 10m and 24h, such as 12h\""
	TokenLifetime *metav1.Duration `json:"tokenLifetime,omitempty"`
	// accessTokenLifetime is the lifetime of the service account's access tokens, 10m to 12h. Default: 1h. More than 1h
	// needs constraints/iam.allowServiceAccountCredentialLifetimeExtension. Not used without serviceAccount, nor for what GKE's
	// metadata server hands out.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?[hms])+$') && duration(self) >= duration('10m') && duration(self) <= duration('12h')",messageExpression="\"accessTokenLifetime: '\" + self + \"' is not a duration between 10m and 12h, such as 1h\""
	AccessTokenLifetime *metav1.Duration `json:"accessTokenLifetime,omitempty"`
	// universeDomain is the domain of the services. Default: googleapis.com.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$')",messageExpression="\"universeDomain: '\" + self + \"' is not a domain, such as googleapis.com\""
	UniverseDomain string `json:"universeDomain,omitempty"`
	// nodeSelector is whether pods ask for nodes with GKE's metadata server: Never (default) or Always. Mode Metadata only.
	// +optional
	NodeSelector GCPNodeSelector `json:"nodeSelector,omitempty"`
	// quotaProject is the project whose quota pays for the identity's calls. Default: that of the called resource.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^([a-z0-9]([a-z0-9.-]*[a-z0-9])?:)?[a-z]([a-z0-9-]*[a-z0-9])?$')",messageExpression="\"quotaProject: '\" + self + \"' is not the id of a project, such as acme-ci\""
	QuotaProject string `json:"quotaProject,omitempty"`
	// principalIDAsEmail makes GKE's metadata server answer with the principal where clients ask for an e-mail, which cures
	// "Invalid form of account ID". Mode Metadata without serviceAccount only.
	// +optional
	PrincipalIDAsEmail bool `json:"principalIDAsEmail,omitempty"`
	// imagePull asks GKE's kubelet to pull images as the ServiceAccount's own principal, never as serviceAccount and, once it is
	// asked for, never as the node. Mode Metadata on a GKE version that has it only.
	// +optional
	ImagePull bool `json:"imagePull,omitempty"`
}

// AWSEndpoints overrides the addresses of AWS services, for private links and tests. Each is a URL.
type AWSEndpoints struct {
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	STS string `json:"sts,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ECR string `json:"ecr,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ECRPublic string `json:"ecrPublic,omitempty"`
}

// AWSDefaults are the admin's defaults for AWSIdentity, and the cluster's endpoints. Whoever sets endpoints is sent tokens:
// they are the admin's alone.
type AWSDefaults struct {
	AWSIdentity `json:",inline"`
	// endpoints overrides the addresses of AWS services.
	// +optional
	Endpoints AWSEndpoints `json:"endpoints,omitzero"`
}

// GCPEndpoints overrides the addresses of Google services, for private access and tests. Each is a URL.
type GCPEndpoints struct {
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	STS string `json:"sts,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	IAMCredentials string `json:"iamCredentials,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	ArtifactRegistry string `json:"artifactRegistry,omitempty"`
	// metadata is the metadata server as host:port, for tests: clients take no URL.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?$')",messageExpression="\"metadata: '\" + self + \"' is not a host, such as 169.254.169.254 or 127.0.0.1:8080\""
	Metadata string `json:"metadata,omitempty"`
}

// GCPDefaults are the admin's defaults for GCPIdentity, and the cluster's endpoints. Whoever sets endpoints is sent tokens: they
// are the admin's alone.
type GCPDefaults struct {
	GCPIdentity `json:",inline"`
	// endpoints overrides the addresses of Google services.
	// +optional
	Endpoints GCPEndpoints `json:"endpoints,omitzero"`
}
