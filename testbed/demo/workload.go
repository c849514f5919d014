// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/podspec"
)

// A workload is a runner pod whose identity is proved.
type workload struct {
	*corev1.Pod

	kube client.Client
	// dir is where a proof may write.
	dir string
}

// runner is the pod's container of that name.
func (p *workload) runner() corev1.Container {
	for _, c := range p.Spec.Containers {
		if c.Name == podspec.RunnerContainer {
			return c
		}
	}
	return corev1.Container{}
}

// env is the value of a variable in the runner's container.
func (p *workload) env(name string) string {
	for _, e := range p.runner().Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// volume is the projected volume of that name.
func (p *workload) volume(name string) (*corev1.ProjectedVolumeSource, error) {
	i := slices.IndexFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name && v.Projected != nil })
	if i < 0 {
		return nil, fmt.Errorf("pod %s has no projected volume %s", p.Name, name)
	}
	return p.Spec.Volumes[i].Projected, nil
}

// files are the files in the runner's projected volumes, by their path in its container, with token where the kubelet would put
// the one that it asks for.
func (p *workload) files(token string) map[string]string {
	files := map[string]string{}
	for _, m := range p.runner().VolumeMounts {
		v, err := p.volume(m.Name)
		if err != nil {
			continue // another kind of volume: empty at the start
		}
		for _, s := range v.Sources {
			if s.ServiceAccountToken != nil {
				files[path.Join(m.MountPath, s.ServiceAccountToken.Path)] = token
			}
			if s.DownwardAPI == nil {
				continue
			}
			for _, item := range s.DownwardAPI.Items {
				files[path.Join(m.MountPath, item.Path)] = p.Annotations[annotationOf(item)]
			}
		}
	}
	return files
}

// annotationOf is the annotation that a file is made of.
func annotationOf(item corev1.DownwardAPIVolumeFile) string {
	return strings.TrimSuffix(strings.TrimPrefix(item.FieldRef.FieldPath, "metadata.annotations['"), "']")
}

// token asks the API server for the token that the kubelet would project into a volume of the pod: same account, audience and
// life, and bound to the pod.
func (p *workload) token(ctx context.Context, volume string) (token, audience string, err error) {
	v, err := p.volume(volume)
	if err != nil {
		return "", "", err
	}
	i := slices.IndexFunc(v.Sources, func(s corev1.VolumeProjection) bool { return s.ServiceAccountToken != nil })
	if i < 0 {
		return "", "", fmt.Errorf("volume %s of pod %s has no token", volume, p.Name)
	}
	projected := v.Sources[i].ServiceAccountToken
	token, expires, err := p.request(ctx, p.Spec.ServiceAccountName, authenticationv1.TokenRequestSpec{
		Audiences:         []string{projected.Audience},
		ExpirationSeconds: projected.ExpirationSeconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
	})
	if err != nil {
		return "", "", err
	}
	ok("TokenRequest", "a token for %s, bound to pod %s, audience %s, good until %s", p.Spec.ServiceAccountName, p.Name, projected.Audience, expires)
	return token, projected.Audience, nil
}

// stranger is a token of another account of the namespace, one without the identity.
func (p *workload) stranger(ctx context.Context, audience string) (string, error) {
	token, _, err := p.request(ctx, "default", authenticationv1.TokenRequestSpec{Audiences: []string{audience}})
	return token, err
}

func (p *workload) request(ctx context.Context, account string, spec authenticationv1.TokenRequestSpec) (token, expires string, err error) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: account}}
	request := &authenticationv1.TokenRequest{Spec: spec}
	if err := p.kube.SubResource("token").Create(ctx, sa, request); err != nil {
		return "", "", err
	}
	return request.Status.Token, request.Status.ExpirationTimestamp.UTC().Format(time.RFC3339), nil
}
