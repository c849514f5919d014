// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Keys that others match. All are below Group.
const (
	// LabelRunnerDeployment names the RunnerDeployment on its runner pods and runner Secrets.
	LabelRunnerDeployment = Group + "/runner-deployment"
	// LabelRunnerIdentity names the RunnerIdentity on all that is made for it.
	LabelRunnerIdentity = Group + "/runner-identity"
	// LabelBound is on each ServiceAccount that an identity is bound to, made or adopted; its value is always "true".
	LabelBound = Group + "/bound"
	// LabelNamespaceDefault names the mapping of an IdentityProvider on the RunnerIdentities that it makes.
	LabelNamespaceDefault = Group + "/namespace-default"
	// LabelManagedBy is on every Secret of this project, with FieldOwner as its value: a cache has one selector for a kind, and
	// Secrets of two kinds are watched.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelTemplateHash is the hash of the inputs that a runner pod was made from.
	LabelTemplateHash = Group + "/template-hash"

	// AnnotationPlanHash is the hash of the plan that a pod carries.
	AnnotationPlanHash = Group + "/plan-hash"
	// AnnotationFilePrefix begins the pod annotations whose values are the plan's files.
	AnnotationFilePrefix = "file." + Group + "/"
	// AnnotationRunnerID is GitHub's id of the runner, on its Secret.
	AnnotationRunnerID = Group + "/runner-id"
	// AnnotationExpires is when the registry logins in a Secret expire, RFC 3339.
	AnnotationExpires = Group + "/expires-at"

	// Finalizer keeps an object until what it made outside of the cluster, or in objects of others, is undone.
	Finalizer = Group + "/finalizer"

	// FieldOwner is the field manager of every server-side apply.
	FieldOwner = "runner-identity"
)
