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

// GCPIdentity are the settings of the provider plug-in gcp.
type GCPIdentity struct {
	// serviceAccount is the Google service account to impersonate, such as ci@acme-ci.iam.gserviceaccount.com.
	// Empty: the ServiceAccount's own federated principal is used directly.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// workloadIdentityProvider is the full name of the provider, with the project's number:
	// projects/123456789012/locations/global/workloadIdentityPools/POOL/providers/PROVIDER.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	WorkloadIdentityProvider string `json:"workloadIdentityProvider,omitempty"`
	// projectID is the project of the jobs, such as acme-ci.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ProjectID string `json:"projectID,omitempty"`
	// mode: Metadata or Federation.
	// +optional
	Mode GCPMode `json:"mode,omitempty"`
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
}

// GCPDefaults are the admin's defaults for GCPIdentity, and the cluster's endpoints.
type GCPDefaults struct {
	GCPIdentity `json:",inline"`
	// endpoints overrides the addresses of Google services.
	// +optional
	Endpoints GCPEndpoints `json:"endpoints,omitzero"`
}
