// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RunnerDeployment keeps a number of ephemeral GitHub Actions runners, each in its own pod, with an identity in the cloud.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=rid,categories=runner-identity
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.template.spec.identityProvider`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Running",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 47",messageExpression="\"metadata.name: '\" + self.metadata.name + \"' is longer than 47 characters; the names of runners and of job pods are made from it\""
type RunnerDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RunnerDeploymentSpec   `json:"spec"`
	Status RunnerDeploymentStatus `json:"status,omitzero"`
}

// RunnerDeploymentList is a list of RunnerDeployment.
// +kubebuilder:object:root=true
type RunnerDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RunnerDeployment `json:"items"`
}

// RunnerDeploymentSpec is how many runners, and what they are like.
type RunnerDeploymentSpec struct {
	// replicas is the number of runners.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	Replicas *int32 `json:"replicas,omitempty"`
	// template is what a runner is like.
	Template RunnerTemplate `json:"template"`
}

// RunnerTemplate is what a runner is like.
type RunnerTemplate struct {
	// metadata are labels and annotations for the runner pods.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitzero"`
	// spec is the runner.
	Spec RunnerSpec `json:"spec"`
}

// TemplateMetadata are labels and annotations.
type TemplateMetadata struct {
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ContainerMode is how a runner runs containers.
// +kubebuilder:validation:Enum="";dind;kubernetes
type ContainerMode string

// Container modes.
const (
	// ContainerModeNone: the runner runs no containers.
	ContainerModeNone ContainerMode = ""
	// ContainerModeDind: a docker daemon runs beside the runner.
	ContainerModeDind ContainerMode = "dind"
	// ContainerModeKubernetes: the runner's container hook makes pods.
	ContainerModeKubernetes ContainerMode = "kubernetes"
)

// SecretReference names a Secret of the same namespace.
type SecretReference struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// GitHubCredentials says where the GitHub credentials are.
type GitHubCredentials struct {
	// secretRef names a Secret with github_token, or github_app_id, github_app_installation_id and github_app_private_key;
	// and github_enterprise_url for a GitHub Enterprise Server.
	SecretRef SecretReference `json:"secretRef"`
}

// WorkVolumeClaimTemplate is the claim for the work volume of containerMode kubernetes.
type WorkVolumeClaimTemplate struct {
	// +optional
	// +kubebuilder:validation:MaxLength=253
	StorageClassName string `json:"storageClassName,omitempty"`
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:XValidation:rule="self.all(m, m in ['ReadWriteOnce', 'ReadWriteMany'])",messageExpression="\"accessModes: '\" + self.filter(m, !(m in ['ReadWriteOnce', 'ReadWriteMany']))[0] + \"' does not let runner and job write the work volume: use ReadWriteOnce or ReadWriteMany\""
	// +listType=atomic
	AccessModes []corev1.PersistentVolumeAccessMode `json:"accessModes"`
	Resources   corev1.VolumeResourceRequirements   `json:"resources"`
}

// RunnerSpec is one runner. Field names and meanings are those of Actions Runner Controller's legacy API wherever they mean the
// same. Mounts, env and resources go to the container called runner.
//
// +kubebuilder:validation:XValidation:rule="[has(self.enterprise) && size(self.enterprise) > 0, has(self.organization) && size(self.organization) > 0, has(self.repository) && size(self.repository) > 0].filter(x, x).size() == 1",messageExpression="([has(self.enterprise) && size(self.enterprise) > 0, has(self.organization) && size(self.organization) > 0, has(self.repository) && size(self.repository) > 0].exists(x, x) ? \"more than one\" : \"none\") + \" of enterprise, organization, repository is set; set exactly one: where the runner registers\""
// +kubebuilder:validation:XValidation:rule="!has(self.ephemeral) || self.ephemeral",message="ephemeral: false is not possible: runners register by JIT config, which is good for one job; leave the field out or set it to true"
// +kubebuilder:validation:XValidation:rule="!(has(self.containerMode) && self.containerMode == 'kubernetes') || has(self.workVolumeClaimTemplate)",message="workVolumeClaimTemplate: is missing; containerMode kubernetes shares the work volume between runner and job through a claim: set accessModes and resources.requests.storage"
// +kubebuilder:validation:XValidation:rule="!(has(self.containerMode) && self.containerMode == 'kubernetes' && has(self.volumes) && self.volumes.exists(v, v.name == 'work'))",message="volumes: 'work' is the name of the claim of containerMode kubernetes; choose another name, or describe the claim in workVolumeClaimTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.dockerdWithinRunnerContainer) || !self.dockerdWithinRunnerContainer",message="dockerdWithinRunnerContainer: true is not supported; use containerMode: dind, which runs the daemon beside the runner"
// +kubebuilder:validation:XValidation:rule="!(has(self.dockerEnabled) && self.dockerEnabled) || (has(self.containerMode) && self.containerMode == 'dind')",message="dockerEnabled: true needs containerMode: dind"
// +kubebuilder:validation:XValidation:rule="(has(self.identityProvider) && size(self.identityProvider) > 0) || !has(self.identity)",message="identity: is set but identityProvider is not; name the provider, such as identityProvider: aws"
// +kubebuilder:validation:XValidation:rule="!(has(self.serviceAccountName) && size(self.serviceAccountName) > 0 && has(self.identity) && has(self.identity.serviceAccounts) && has(self.identity.serviceAccounts.runner) && size(self.identity.serviceAccounts.runner) > 0 && self.identity.serviceAccounts.runner != self.serviceAccountName)",messageExpression="\"serviceAccountName: '\" + self.serviceAccountName + \"' is not identity.serviceAccounts.runner: '\" + self.identity.serviceAccounts.runner + \"'; both name the account of the runner pod: set one of them\""
type RunnerSpec struct {
	// identityProvider is the name of an IdentityProvider, or of a built-in plug-in such as aws if no IdentityProvider has that
	// name. Empty: runners have no cloud identity.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	IdentityProvider string `json:"identityProvider,omitempty"`
	// identity says what is asked of the provider.
	// +optional
	Identity *Identity `json:"identity,omitempty"`

	// enterprise is the slug of the GitHub enterprise to register with.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[A-Za-z0-9_.-]+$')",messageExpression="\"enterprise: '\" + self + \"' is not the slug of an enterprise, such as acme\""
	Enterprise string `json:"enterprise,omitempty"`
	// organization is the GitHub organisation to register with.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[A-Za-z0-9_.-]+$')",messageExpression="\"organization: '\" + self + \"' is not the name of an organisation, such as acme\""
	Organization string `json:"organization,omitempty"`
	// repository is the GitHub repository to register with, OWNER/NAME.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$')",messageExpression="\"repository: '\" + self + \"' is not a repository: OWNER/NAME, such as acme/website\""
	Repository string `json:"repository,omitempty"`
	// group is the runner group. Default: the one called Default.
	// +optional
	// +kubebuilder:validation:MaxLength=100
	Group string `json:"group,omitempty"`
	// labels are the labels that jobs ask for with runs-on, beside self-hosted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=256
	Labels []string `json:"labels,omitempty"`
	// githubAPICredentialsFrom says where the GitHub credentials are. Default: the controller's own.
	// +optional
	GitHubAPICredentialsFrom *GitHubCredentials `json:"githubAPICredentialsFrom,omitempty"`
	// ephemeral is true or left out: a runner takes one job.
	// +optional
	Ephemeral *bool `json:"ephemeral,omitempty"`

	// image is the runner's image. Default: the controller's.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image,omitempty"`
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
	// +optional
	// +listType=atomic
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// workDir is the runner's work directory. Default: /home/runner/_work.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	WorkDir string `json:"workDir,omitempty"`
	// workVolumeClaimTemplate is the claim for the work volume of containerMode kubernetes.
	// +optional
	WorkVolumeClaimTemplate *WorkVolumeClaimTemplate `json:"workVolumeClaimTemplate,omitempty"`
	// volumeSizeLimit is the size limit of the work directory's volume.
	// +optional
	VolumeSizeLimit *resource.Quantity `json:"volumeSizeLimit,omitempty"`
	// volumeStorageMedium is the medium of the work directory's volume: empty or Memory.
	// +optional
	// +kubebuilder:validation:Enum="";Memory
	VolumeStorageMedium string `json:"volumeStorageMedium,omitempty"`

	// containerMode is how the runner runs containers: empty (not at all), dind or kubernetes.
	// +optional
	ContainerMode ContainerMode `json:"containerMode,omitempty"`
	// dockerEnabled is implied by containerMode dind. It is here so that manifests that say false can be kept.
	// +optional
	DockerEnabled *bool `json:"dockerEnabled,omitempty"`
	// dockerdWithinRunnerContainer is false or left out.
	// +optional
	DockerdWithinRunnerContainer *bool `json:"dockerdWithinRunnerContainer,omitempty"`
	// +optional
	DockerMTU *int64 `json:"dockerMTU,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	DockerRegistryMirror *string `json:"dockerRegistryMirror,omitempty"`
	// +optional
	DockerVarRunVolumeSizeLimit *resource.Quantity `json:"dockerVarRunVolumeSizeLimit,omitempty"`
	// +optional
	// +listType=atomic
	DockerVolumeMounts []corev1.VolumeMount `json:"dockerVolumeMounts,omitempty"`
	// +optional
	// +listType=atomic
	DockerEnv []corev1.EnvVar `json:"dockerEnv,omitempty"`
	// +optional
	DockerdContainerResources corev1.ResourceRequirements `json:"dockerdContainerResources,omitzero"`

	// serviceAccountName is the runner pod's account; the same as identity.serviceAccounts.runner.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// +optional
	AutomountServiceAccountToken *bool `json:"automountServiceAccountToken,omitempty"`

	// +optional
	// +listType=atomic
	Env []corev1.EnvVar `json:"env,omitempty"`
	// +optional
	// +listType=atomic
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
	// +optional
	// +listType=atomic
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Volumes []corev1.Volume `json:"volumes,omitempty"`

	// containers are the pod's containers. The one called runner is the runner, wherever it stands; it is made if there is none.
	// +optional
	// +listType=map
	// +listMapKey=name
	Containers []corev1.Container `json:"containers,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=name
	InitContainers []corev1.Container `json:"initContainers,omitempty"`
	// sidecarContainers are further containers beside the runner.
	// +optional
	// +listType=map
	// +listMapKey=name
	SidecarContainers []corev1.Container `json:"sidecarContainers,omitempty"`

	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`

	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// +optional
	// +listType=atomic
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// +optional
	DNSPolicy corev1.DNSPolicy `json:"dnsPolicy,omitempty"`
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`
	// +optional
	// +listType=atomic
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`
	// +optional
	EnableServiceLinks *bool `json:"enableServiceLinks,omitempty"`
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// RunnerDeploymentStatus is what became of a RunnerDeployment.
type RunnerDeploymentStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// replicas is the number of runners there are, those that end after their job included.
	// +optional
	Replicas int32 `json:"replicas"`
	// readyReplicas is the number of runners whose pods run.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// updatedReplicas is the number of runners made from the present template.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
	// selector selects the runner pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`
	// templateHash is the hash of the present template and identity plan.
	// +optional
	TemplateHash string `json:"templateHash,omitempty"`
	// failures counts runners that failed one after the other; a runner that ends well sets it to zero.
	// +optional
	Failures int32 `json:"failures,omitempty"`
	// retryAt is when the next runner is made after failures.
	// +optional
	RetryAt *metav1.Time `json:"retryAt,omitempty"`
}
