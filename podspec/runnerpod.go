// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// Runner is all that a runner pod is made from.
type Runner struct {
	// Namespace and Name are the pod's; Name is also the runner's, and that of the Secret with its JIT config.
	Namespace, Name string
	// Deployment is the name of the RunnerDeployment.
	Deployment string
	Template   v1alpha1.RunnerTemplate
	// Plan is the runner's part of the identity, nil if there is none.
	Plan *v1alpha1.PodPlan
	// TemplateHash is what TemplateHash says of the above.
	TemplateHash string
	// DefaultImage is the image of templates that name none.
	DefaultImage string
	// Owner is the pod's owner, nil for a pod that is only shown.
	Owner *metav1.OwnerReference
}

// ContainerModeError says that a container mode is not supported.
type ContainerModeError struct {
	Mode v1alpha1.ContainerMode
}

// Error names the mode and those that would be right.
func (e *ContainerModeError) Error() string {
	return fmt.Sprintf("containerMode: %q is not supported by this version; use dind, or leave it out for runners that run no containers", e.Mode)
}

// RunnerPod makes the pod of a runner. The runner container reads its JIT config from the Secret of the runner's name.
//
// The token for the Kubernetes API is mounted only if the template says so, or names an account of its own and has no identity:
// a runner without a container mode has no need of the API, and a token that is not there cannot be stolen by a job.
//
// It returns a *ConflictError if the template takes what we or the plan must set, for a runner must not run with half an identity,
// and a *ContainerModeError for containerMode kubernetes.
func RunnerPod(r Runner) (Object, error) {
	if r.Template.Spec.ContainerMode == v1alpha1.ContainerModeKubernetes {
		return nil, &ContainerModeError{Mode: r.Template.Spec.ContainerMode}
	}
	r.Plan = planFor(r.Template.Spec, r.Plan)
	conflicts := append(r.conflicts(), r.repeatedNames()...)
	pod, err := raw(r.pod())
	if err != nil {
		return nil, err
	}
	if r.Plan != nil {
		var inPlan []Conflict
		if pod, inPlan, err = Apply(pod, withAgent(*r.Plan), RunnerContainer); err != nil {
			return nil, err
		}
		conflicts = append(conflicts, inPlan...)
	}
	if err := conflictError(conflicts); err != nil {
		return nil, err
	}
	return pod, nil
}

func (r Runner) pod() *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: r.metadata(),
		Spec:       r.spec(),
	}
}

func (r Runner) metadata() metav1.ObjectMeta {
	m := metav1.ObjectMeta{
		Namespace: r.Namespace, Name: r.Name,
		Labels:      with(with(r.defaultLabels(), r.Template.Metadata.Labels), r.labels()),
		Annotations: with(maps.Clone(r.Template.Metadata.Annotations), r.annotations()),
	}
	if r.Owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*r.Owner}
	}
	return m
}

// defaultLabels are for people and dashboards; a template may set its own.
func (r Runner) defaultLabels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "github-runner",
		"app.kubernetes.io/component":  RunnerContainer,
		"app.kubernetes.io/instance":   r.Deployment,
		"app.kubernetes.io/managed-by": v1alpha1.FieldOwner,
	}
}

// labels are those that the controller finds its pods by.
func (r Runner) labels() map[string]string {
	return map[string]string{
		v1alpha1.LabelRunnerDeployment: r.Deployment,
		v1alpha1.LabelTemplateHash:     r.TemplateHash,
	}
}

// annotations say which plan the pod carries: a plan of the runner's part alone.
func (r Runner) annotations() map[string]string {
	if r.Plan == nil {
		return nil
	}
	return map[string]string{v1alpha1.AnnotationPlanHash: PlanHash(v1alpha1.PlanStatus{Runner: r.Plan})}
}

func (r Runner) spec() corev1.PodSpec {
	t := r.Template.DeepCopy().Spec
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever, // a JIT config is good for one job
		Containers:                    append(r.containers(), t.SidecarContainers...),
		InitContainers:                r.initContainers(),
		Volumes:                       withDindVolumes(t, withWorkVolume(t)),
		ImagePullSecrets:              t.ImagePullSecrets,
		ServiceAccountName:            t.ServiceAccountName,
		AutomountServiceAccountToken:  r.automount(),
		SecurityContext:               t.SecurityContext,
		RuntimeClassName:              t.RuntimeClassName,
		NodeSelector:                  t.NodeSelector,
		Affinity:                      t.Affinity,
		Tolerations:                   t.Tolerations,
		TopologySpreadConstraints:     t.TopologySpreadConstraints,
		PriorityClassName:             t.PriorityClassName,
		DNSPolicy:                     t.DNSPolicy,
		DNSConfig:                     t.DNSConfig,
		HostAliases:                   t.HostAliases,
		EnableServiceLinks:            t.EnableServiceLinks,
		TerminationGracePeriodSeconds: t.TerminationGracePeriodSeconds,
	}
}

// automount is the template's choice, else "no", else (the template names an account, without identity) the account's choice.
func (r Runner) automount() *bool {
	t := r.Template.Spec
	if t.AutomountServiceAccountToken != nil || (t.ServiceAccountName != "" && r.Plan == nil) {
		return t.AutomountServiceAccountToken
	}
	return new(false)
}

// raw is a pod as JSON, without what typed objects leave behind.
func raw(pod *corev1.Pod) (Object, error) {
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return nil, fmt.Errorf("pod %q: %w", pod.Name, err)
	}
	return withoutEmpty(o, "status", "creationTimestamp", "resources"), nil
}

// withoutEmpty leaves out, at every level, values of these keys that are null or an empty object.
func withoutEmpty(o Object, keys ...string) Object {
	for k, v := range o {
		inner, isObject := v.(Object)
		if slices.Contains(keys, k) && (v == nil || isObject && len(inner) == 0) {
			delete(o, k)
		}
		withoutEmpty(inner, keys...)
		if values, ok := v.([]any); ok {
			for _, e := range values {
				inner, _ := e.(Object)
				withoutEmpty(inner, keys...)
			}
		}
	}
	return o
}
