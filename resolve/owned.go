// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// Owned is the RunnerIdentity that a RunnerDeployment makes, of its own name; nil if it asks for no provider.
// The images are those that its pods use without naming them, such as the controller's default image.
func Owned(rd *v1alpha1.RunnerDeployment, images ...string) *v1alpha1.RunnerIdentity {
	spec := rd.Spec.Template.Spec
	if spec.IdentityProvider == "" {
		return nil
	}
	asked := v1alpha1.Identity{}
	if spec.Identity != nil {
		asked = *spec.Identity.DeepCopy()
	}
	if spec.ServiceAccountName != "" {
		asked.ServiceAccounts.Runner = spec.ServiceAccountName
	}
	if len(asked.Targets) == 0 {
		asked.Targets = defaultTargets(spec.ContainerMode)
	}
	asked.Delivery = delivery(spec.ContainerMode, asked.Delivery)
	own := map[string]string{v1alpha1.LabelRunnerDeployment: rd.Name}
	return &v1alpha1.RunnerIdentity{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "RunnerIdentity"},
		ObjectMeta: metav1.ObjectMeta{Namespace: rd.Namespace, Name: rd.Name, Labels: own},
		Spec: v1alpha1.RunnerIdentitySpec{
			IdentityProvider: spec.IdentityProvider,
			Identity:         asked,
			Selector:         &v1alpha1.RunnerSelector{PodSelector: &metav1.LabelSelector{MatchLabels: own}},
			Images:           podImages(spec, images),
		},
	}
}

// defaultTargets gives the identity to the job, and not to the runner, where both are pods: the runner's account may create
// pods and read Secrets, so it must hold no cloud rights.
func defaultTargets(mode v1alpha1.ContainerMode) []v1alpha1.IdentityTarget {
	if mode == v1alpha1.ContainerModeKubernetes {
		return []v1alpha1.IdentityTarget{v1alpha1.TargetJob}
	}
	return []v1alpha1.IdentityTarget{v1alpha1.TargetRunner}
}

// delivery is the carrier. With a docker daemon there are no job pods, so that only the work volume reaches jobs.
func delivery(mode v1alpha1.ContainerMode, asked v1alpha1.Delivery) v1alpha1.Delivery {
	if mode == v1alpha1.ContainerModeDind {
		return v1alpha1.DeliveryWorkVolume
	}
	return asked
}

// podImages are the images of the runner pod, sorted and without repeats. The defaults count only if no runner image is named.
func podImages(spec v1alpha1.RunnerSpec, defaults []string) []string {
	images := []string{spec.Image}
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers, spec.SidecarContainers} {
		for _, c := range list {
			images = append(images, c.Image)
		}
	}
	if spec.Image == "" {
		images = append(images, defaults...)
	}
	slices.Sort(images)
	return slices.DeleteFunc(slices.Compact(images), func(s string) bool { return s == "" })
}
