// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API of runner-identity: RunnerDeployment, RunnerIdentity and IdentityProvider.
// It is data only; what can be validated is validated in the CRD, by CEL rules that name the field, the value and what
// would be right.
//
// +kubebuilder:object:generate=true
// +groupName=runner-identity.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group, and the domain of every key that this project sets.
const Group = "runner-identity.dev"

// GroupVersion is the group and version of this package.
var GroupVersion = schema.GroupVersion{Group: Group, Version: "v1alpha1"}

// AddToScheme adds the three kinds to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&RunnerDeployment{}, &RunnerDeploymentList{},
		&RunnerIdentity{}, &RunnerIdentityList{},
		&IdentityProvider{}, &IdentityProviderList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
