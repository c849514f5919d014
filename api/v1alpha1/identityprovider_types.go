// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// IdentityProvider is the admin's word on one provider: defaults, endpoints, guard rails, namespace defaults. It is optional: a
// built-in plug-in works by its own name without one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=idp,categories=runner-identity
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Plugin",type=string,JSONPath=`.spec.plugin`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type IdentityProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   IdentityProviderSpec   `json:"spec"`
	Status IdentityProviderStatus `json:"status,omitzero"`
}

// IdentityProviderList is a list of IdentityProvider.
// +kubebuilder:object:root=true
type IdentityProviderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []IdentityProvider `json:"items"`
}

// IdentityProviderSpec is the admin's word on one provider.
// +kubebuilder:validation:XValidation:rule="!has(self.aws) || self.plugin == 'aws'",messageExpression="\"aws: is for plugin aws, and plugin is '\" + self.plugin + \"'\""
// +kubebuilder:validation:XValidation:rule="!has(self.gcp) || self.plugin == 'gcp'",messageExpression="\"gcp: is for plugin gcp, and plugin is '\" + self.plugin + \"'\""
type IdentityProviderSpec struct {
	// plugin is the name of the provider plug-in: aws, or another that the controller was built with.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Plugin string `json:"plugin"`
	// issuer is the URL of the cluster's ServiceAccount token issuer, as the cloud knows it.
	// Default: what the API server's own discovery document says.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^https?://[^?#]+$')",messageExpression="\"issuer: '\" + self + \"' is not an issuer URL, such as https://oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE\""
	Issuer string `json:"issuer,omitempty"`
	// allowedNamespaces selects the namespaces that may use this provider. Default: all.
	// +optional
	AllowedNamespaces *metav1.LabelSelector `json:"allowedNamespaces,omitempty"`
	// allowedPrincipals are globs ('*' stands for any run of characters) of principals that may be used, such as
	// arn:aws:iam::111122223333:role/ci-*. Default: all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=2048
	AllowedPrincipals []string `json:"allowedPrincipals,omitempty"`
	// namespaceDefaults gives the default ServiceAccount of namespaces an identity.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	NamespaceDefaults []NamespaceDefault `json:"namespaceDefaults,omitempty"`
	// aws are defaults for the plug-in aws.
	// +optional
	AWS *AWSDefaults `json:"aws,omitempty"`
	// gcp are defaults for the plug-in gcp.
	// +optional
	GCP *GCPDefaults `json:"gcp,omitempty"`
	// parameters are defaults for a plug-in that is not built in.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Parameters map[string]string `json:"parameters,omitempty"`
}

// NamespaceDefault maps namespaces to an identity for one of their ServiceAccounts.
type NamespaceDefault struct {
	// name tells this mapping from the others. It is a part of the name of the RunnerIdentities that it makes.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",messageExpression="\"name: '\" + self + \"' is not the name of a mapping: lower-case letters, digits and '-'\""
	Name string `json:"name"`
	// selector selects the namespaces, by a label that an admin puts on them. One that matches a namespace without such a label is
	// refused: every pod of a namespace that names no account then has the identity. kube-system, kube-public, kube-node-lease
	// and the controller's own namespace are never selected.
	Selector metav1.LabelSelector `json:"selector"`
	// serviceAccount is the account that gets the identity.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",messageExpression="\"serviceAccount: '\" + self + \"' is not a ServiceAccount name: lower-case letters, digits, '-' and '.'\""
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// identity is the identity, with ${namespace} standing for the namespace's name.
	// +optional
	Identity NamespaceIdentity `json:"identity,omitzero"`
}

// NamespaceIdentity is an identity in which ${namespace} stands for a namespace's name. Its values are checked once that is
// filled in.
type NamespaceIdentity struct {
	// registries are the registry hosts to log in to.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	Registries []string `json:"registries,omitempty"`
	// settings are the plug-in's settings by field name, such as serviceAccount: ci-${namespace}@acme-ci.iam.gserviceaccount.com.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Settings map[string]string `json:"settings,omitempty"`
}

// IdentityProviderStatus is what became of an IdentityProvider.
type IdentityProviderStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// namespaceDefaults are the mappings, and how far each has come.
	// +optional
	// +listType=map
	// +listMapKey=name
	NamespaceDefaults []NamespaceDefaultStatus `json:"namespaceDefaults,omitempty"`
}

// NamespaceDefaultStatus is how far a mapping has come.
type NamespaceDefaultStatus struct {
	// name is the mapping's.
	Name string `json:"name"`
	// namespaces is how many namespaces the mapping selects.
	Namespaces int32 `json:"namespaces"`
	// ready is how many of them have their identity.
	Ready int32 `json:"ready"`
}
