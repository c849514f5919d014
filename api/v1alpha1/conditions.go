// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition types. All are positive: True is good.
const (
	// ConditionReady sums up the others.
	ConditionReady = "Ready"
	// ConditionServiceAccountReady is whether the ServiceAccounts exist and carry the plan's binding.
	ConditionServiceAccountReady = "ServiceAccountReady"
	// ConditionRegistryLoginReady is whether the registry Secret holds logins that have not expired.
	ConditionRegistryLoginReady = "RegistryLoginReady"
	// ConditionPrincipalVerified is whether the cloud accepted the workload's token.
	ConditionPrincipalVerified = "PrincipalVerified"
	// ConditionIdentityReady is whether the RunnerIdentity of a RunnerDeployment lets runners be made.
	ConditionIdentityReady = "IdentityReady"
	// ConditionRunnersRegistered is whether GitHub takes registrations and removals of runners.
	ConditionRunnersRegistered = "RunnersRegistered"
	// ConditionNamespaceDefaultsReady is whether each namespace that an IdentityProvider's mappings select has its identity.
	ConditionNamespaceDefaultsReady = "NamespaceDefaultsReady"
)

// Condition reasons beside identity.Reason's three (InvalidIdentity, IdentityDenied, CloudUnreachable).
const (
	ReasonReady            = "Ready"
	ReasonProgressing      = "Progressing"
	ReasonInvalidSpec      = "InvalidSpec"
	ReasonProviderNotFound = "ProviderNotFound"
	ReasonNotAllowed       = "NotAllowed"
	ReasonAccountConflict  = "AccountConflict"
	ReasonAccountApplied   = "AccountApplied"
	ReasonSecretConflict   = "SecretConflict"
	ReasonLoggedIn         = "LoggedIn"
	ReasonNotNeeded        = "NotNeeded"
	ReasonVerified         = "Verified"
	ReasonIdentityNotReady = "IdentityNotReady"
	ReasonSecretNotFound   = "SecretNotFound"
	ReasonSecretInvalid    = "SecretInvalid"
	ReasonGitHubDenied     = "GitHubDenied"
	ReasonGitHubLimited    = "GitHubRateLimited"
	ReasonGitHubDown       = "GitHubUnreachable"
	ReasonRegistered       = "Registered"
	ReasonRunnersFailing   = "RunnersFailing"
	ReasonScaling          = "Scaling"
	ReasonDeleting         = "Deleting"
	ReasonMappingConflict  = "MappingConflict"
	ReasonIdentityConflict = "IdentityConflict"
)

// maxMessage bounds condition messages, in bytes, so that a cloud's long answer cannot fill etcd or a terminal.
const maxMessage = 1024

// SetCondition sets a condition with the object's generation and a bounded message. It reports whether that changed anything.
func SetCondition(conditions *[]metav1.Condition, generation int64, kind string, status metav1.ConditionStatus, reason, message string) bool {
	return meta.SetStatusCondition(conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: Bounded(message), ObservedGeneration: generation,
	})
}

// Bounded cuts a message to the length that conditions and events take.
func Bounded(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return string([]rune(message[:maxMessage-4])) + " ..."
}
