// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/runner-identity/runner-identity/podspec"
)

// eksWebhook does to pods what EKS's pod identity webhook does (reference: its pkg/handler).
type eksWebhook struct {
	volume, dir, file, audience string
	// first and second are the variables with the identity, in order; either one present suppresses both.
	first, second corev1.EnvVar
	region        string
	expiration    int64
	labels        map[string]string
}

func eksWebIdentity(role, region string) eksWebhook {
	const dir = "/var/run/secrets/eks.amazonaws.com/serviceaccount"
	return eksWebhook{
		volume: "aws-iam-token", dir: dir, file: "token", audience: "sts.amazonaws.com", region: region, expiration: 3600,
		first:  corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: role},
		second: corev1.EnvVar{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: dir + "/token"},
	}
}

func eksPodIdentity(region string) eksWebhook {
	const dir, file = "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount", "eks-pod-identity-token"
	return eksWebhook{
		volume: file, dir: dir, file: file, audience: "pods.eks.amazonaws.com", region: region, expiration: 79200,
		first:  corev1.EnvVar{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://169.254.170.23/v1/credentials"},
		second: corev1.EnvVar{Name: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Value: dir + "/" + file},
		labels: map[string]string{"eks.amazonaws.com/pod-identity": "enabled"},
	}
}

func (w eksWebhook) mutate(t testing.TB, raw podspec.Object) podspec.Object {
	t.Helper()
	pod := typed(t, raw)
	skip := strings.Split(pod.Annotations["eks.amazonaws.com/skip-containers"], ",")
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if !slices.Contains(skip, containers[i].Name) {
				w.container(&containers[i])
			}
		}
	}
	for k, v := range w.labels {
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
		pod.Labels[k] = v
	}
	if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == w.volume }) {
		pod.Spec.Volumes = slices.Insert(pod.Spec.Volumes, 0, w.projected())
	}
	mutated, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod)
	require.NoError(t, err)
	return mutated
}

func (w eksWebhook) container(c *corev1.Container) {
	has := func(name string) bool {
		return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == name })
	}
	add := func(e ...corev1.EnvVar) { c.Env = append(c.Env, e...) }
	identity, regions := has(w.first.Name) || has(w.second.Name), has("AWS_REGION") || has("AWS_DEFAULT_REGION")
	if identity && regions && has("AWS_STS_REGIONAL_ENDPOINTS") {
		return
	}
	if w.region != "" && !regions {
		add(corev1.EnvVar{Name: "AWS_DEFAULT_REGION", Value: w.region}, corev1.EnvVar{Name: "AWS_REGION", Value: w.region})
	}
	if !identity {
		add(w.first, w.second)
	}
	if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == w.volume }) {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: w.volume, MountPath: w.dir, ReadOnly: true})
	}
}

func (w eksWebhook) projected() corev1.Volume {
	token := &corev1.ServiceAccountTokenProjection{Audience: w.audience, ExpirationSeconds: &w.expiration, Path: w.file}
	return corev1.Volume{Name: w.volume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: []corev1.VolumeProjection{{ServiceAccountToken: token}},
	}}}
}
