// SPDX-License-Identifier: Apache-2.0

package runnerdeployment

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/github"
)

// Annotations of a record that only this package reads. The runner's id is v1alpha1.AnnotationRunnerID.
const (
	annotationPod         = v1alpha1.Group + "/pod-uid"
	annotationRegistered  = v1alpha1.Group + "/registered-at"
	annotationScope       = v1alpha1.Group + "/github-scope"
	annotationCredentials = v1alpha1.Group + "/github-secret"
)

// A target is where a runner is registered, and with whose credentials.
type target struct {
	scope github.Scope
	// secret names the Secret with the credentials, in the runner's own namespace. Empty: the controller's default.
	// Never a namespace: whoever may write Secrets could otherwise lend himself the credentials of others.
	secret string
}

// targetOf is where new runners of a deployment register.
func targetOf(d *v1alpha1.RunnerDeployment) target {
	spec := d.Spec.Template.Spec
	t := target{scope: github.Scope{Enterprise: spec.Enterprise, Organization: spec.Organization, Repository: spec.Repository}}
	if from := spec.GitHubAPICredentialsFrom; from != nil {
		t.secret = from.SecretRef.Name
	}
	return t
}

// newRecord is the Secret of a runner that is about to be registered.
func newRecord(d *v1alpha1.RunnerDeployment, name, hash string, t target) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:  d.Namespace,
			Name:       name,
			Finalizers: []string{v1alpha1.Finalizer},
			Labels: map[string]string{
				v1alpha1.LabelRunnerDeployment: d.Name,
				v1alpha1.LabelTemplateHash:     hash,
				v1alpha1.LabelManagedBy:        v1alpha1.FieldOwner,
			},
			Annotations: map[string]string{
				annotationScope:       scopeText(t.scope),
				annotationCredentials: t.secret,
			},
		},
		Type: corev1.SecretTypeOpaque,
	}
}

// recordOf reads a record from its Secret's metadata. What is missing or was made unreadable is taken from the deployment.
func recordOf(m *metav1.PartialObjectMetadata, present target) record {
	id, _ := strconv.ParseInt(m.Annotations[v1alpha1.AnnotationRunnerID], 10, 64)
	registered, err := time.Parse(time.RFC3339, m.Annotations[annotationRegistered])
	if err != nil {
		registered = m.CreationTimestamp.Time
	}
	r := record{
		name: m.Name, uid: m.UID, hash: m.Labels[v1alpha1.LabelTemplateHash],
		id: id, registered: registered, pod: types.UID(m.Annotations[annotationPod]),
		leaving: m.DeletionTimestamp != nil, finalizer: slices.Index(m.Finalizers, v1alpha1.Finalizer),
		target: present,
	}
	if scope, ok := parseScope(m.Annotations[annotationScope]); ok {
		r.target = target{scope: scope, secret: m.Annotations[annotationCredentials]}
	}
	return r
}

func scopeText(s github.Scope) string {
	// A struct of three strings always encodes.
	text, _ := json.Marshal(s)
	return string(text)
}

func parseScope(text string) (github.Scope, bool) {
	var s github.Scope
	err := json.Unmarshal([]byte(text), &s)
	return s, err == nil && s != github.Scope{}
}
