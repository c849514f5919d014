// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RunnerIdentity gives an identity to runner pods, and to the job pods that they create. A RunnerDeployment makes its own;
// write one yourself for the runner pods of an existing Actions Runner Controller.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rident,categories=runner-identity
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.identityProvider`
// +kubebuilder:printcolumn:name="Principal",type=string,JSONPath=`.status.principal`
// +kubebuilder:printcolumn:name="Login expires",type=string,JSONPath=`.status.loginExpiresAt`,priority=1
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",messageExpression="\"metadata.name: '\" + self.metadata.name + \"' is longer than 63 characters; it is the value of a label on all that is made for it\""
type RunnerIdentity struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RunnerIdentitySpec   `json:"spec"`
	Status RunnerIdentityStatus `json:"status,omitzero"`
}

// RunnerIdentityList is a list of RunnerIdentity.
// +kubebuilder:object:root=true
type RunnerIdentityList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []RunnerIdentity `json:"items"`
}

// RunnerIdentitySpec is what an identity is for and what it asks of its provider.
type RunnerIdentitySpec struct {
	// identityProvider is the name of an IdentityProvider, or of a built-in plug-in if no IdentityProvider has that name.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	IdentityProvider string `json:"identityProvider"`
	// identity says what is asked of the provider.
	// +optional
	Identity Identity `json:"identity,omitzero"`
	// selector says which runner pods have this identity.
	// +optional
	Selector *RunnerSelector `json:"selector,omitempty"`
	// images are images that runner and job pods use; their registries are logged in to if the provider serves them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Images []string `json:"images,omitempty"`
}

// RunnerSelector selects runner pods. Exactly one member is set.
// +kubebuilder:validation:XValidation:rule="[has(self.scaleSet), has(self.runnerDeployment), has(self.podSelector)].filter(x, x).size() == 1",messageExpression="([has(self.scaleSet), has(self.runnerDeployment), has(self.podSelector)].exists(x, x) ? \"more than one\" : \"none\") + \" of scaleSet, runnerDeployment, podSelector is set; set exactly one\""
type RunnerSelector struct {
	// scaleSet is the name of an AutoscalingRunnerSet of Actions Runner Controller in the same namespace.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ScaleSet string `json:"scaleSet,omitempty"`
	// runnerDeployment is the name of a RunnerDeployment of Actions Runner Controller's legacy API in the same namespace.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	RunnerDeployment string `json:"runnerDeployment,omitempty"`
	// podSelector selects runner pods by their labels.
	// +optional
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`
}

// RunnerIdentityStatus is what became of an identity. The controller alone writes it.
type RunnerIdentityStatus struct {
	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// principal is the cloud identity, as its cloud writes it.
	// +optional
	Principal string `json:"principal,omitempty"`
	// planHash is the hash of the plan below.
	// +optional
	PlanHash string `json:"planHash,omitempty"`
	// carrier is how the job's part of the identity reaches the job, and what that cannot do.
	// +optional
	Carrier *CarrierStatus `json:"carrier,omitempty"`
	// serviceAccounts are the accounts in use.
	// +optional
	ServiceAccounts ServiceAccountNames `json:"serviceAccounts,omitzero"`
	// registrySecret is the name of the Secret with the registry logins.
	// +optional
	RegistrySecret string `json:"registrySecret,omitempty"`
	// registries are the registries logged in to.
	// +optional
	// +listType=map
	// +listMapKey=host
	Registries []RegistryStatus `json:"registries,omitempty"`
	// loginExpiresAt is when the first of the registry logins expires.
	// +optional
	LoginExpiresAt *metav1.Time `json:"loginExpiresAt,omitempty"`
	// verifiedAt is when the cloud last answered for the principal.
	// +optional
	VerifiedAt *metav1.Time `json:"verifiedAt,omitempty"`
	// plan is what pods are given. The admission policy reads it here.
	// +optional
	Plan *PlanStatus `json:"plan,omitempty"`
}

// CarrierStatus is a carrier in use.
type CarrierStatus struct {
	// name is Admission, HookTemplate or WorkVolume.
	Name Delivery `json:"name"`
	// limits says what this carrier cannot do.
	// +optional
	Limits string `json:"limits,omitempty"`
}

// RegistryStatus is one registry login.
type RegistryStatus struct {
	// host is the bare registry host.
	Host string `json:"host"`
	// expiresAt is when the login expires, as its issuer said.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
	// renewAt is when it will be renewed.
	// +optional
	RenewAt *metav1.Time `json:"renewAt,omitempty"`
	// error is why the last login failed. The earlier login stays in use until it expires.
	// +optional
	Error string `json:"error,omitempty"`
}

// PlanStatus is the plan for pods, one part a target. A missing part means that the target has no identity.
type PlanStatus struct {
	// runner is what runner pods are given.
	// +optional
	Runner *PodPlan `json:"runner,omitempty"`
	// job is what job pods and step pods are given.
	// +optional
	Job *PodPlan `json:"job,omitempty"`
}

// PodPlan is what one pod is given: a provider's plan in the words of a pod, ready for podspec.Apply and for the admission
// policy. The zero PodPlan adds nothing.
type PodPlan struct {
	// serviceAccountName is the account that the pod runs as.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// env is added to the named containers.
	// +optional
	// +listType=map
	// +listMapKey=name
	Env []EnvVar `json:"env,omitempty"`
	// volumeMounts are added to the named containers.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	VolumeMounts []VolumeMount `json:"volumeMounts,omitempty"`
	// volumes are added to the pod.
	// +optional
	// +listType=map
	// +listMapKey=name
	Volumes []Volume `json:"volumes,omitempty"`
	// initContainers run before the others, first in the pod. They are of this project's own image.
	// +optional
	// +listType=map
	// +listMapKey=name
	InitContainers []InitContainer `json:"initContainers,omitempty"`
	// imagePullSecrets are added to the pod: the registry Secret, and those of the account itself, which Kubernetes would
	// otherwise no longer add.
	// +optional
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []SecretName `json:"imagePullSecrets,omitempty"`
	// labels are added to the pod.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are added to the pod; the plan's files ride in them.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// nodeSelector is added to the pod.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// agent is what this project's agent does beside a runner with a docker daemon. Other pods have none.
	// +optional
	Agent *AgentPlan `json:"agent,omitempty"`
}

// AgentPlan is the agent of a runner pod: it keeps the docker client logged in to registries, and carries the identity into the
// containers of jobs.
type AgentPlan struct {
	// image is this project's own image.
	Image string `json:"image"`
	// config is the agent's configuration as JSON. There is no secret in it.
	Config string `json:"config"`
	// tokens are ServiceAccount tokens that the agent's container has, and no other.
	// +optional
	// +listType=map
	// +listMapKey=path
	Tokens []corev1.ServiceAccountTokenProjection `json:"tokens,omitempty"`
	// registries are the hosts that the docker client is logged in to.
	// +optional
	// +listType=set
	Registries []string `json:"registries,omitempty"`
	// workVolume is whether the identity is carried into the containers of jobs.
	// +optional
	WorkVolume bool `json:"workVolume,omitempty"`
}

// EnvVar is an environment variable with a literal value.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// InitContainer is a container that runs to its end before the others start.
type InitContainer struct {
	Name  string `json:"name"`
	Image string `json:"image"`
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`
}

// VolumeMount is a read-only or writable mount of one of the plan's volumes.
type VolumeMount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`
}

// Volume is one volume of a plan: a projected one, or an empty directory.
type Volume struct {
	Name string `json:"name"`
	// +optional
	Projected *corev1.ProjectedVolumeSource `json:"projected,omitempty"`
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`
}

// SecretName names a Secret of the pod's namespace.
type SecretName struct {
	Name string `json:"name"`
}
