// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// Of is the target's part of a plan in the words of a pod. Tokens and files below identity.Dir share IdentityVolume; a token with
// a volume of its own keeps that volume's name and path, so that its cloud's own webhook finds its work done. A plan that has
// nothing for the target leaves the account and the pull secrets.
//
// The images of init containers are left to the caller: which image is this project's own is a matter of the installation.
//
// The plan's hash is not part of it (RunnerPod adds it): a hash that is among the things it is a hash of has no value.
func Of(plan identity.Plan, target identity.Target, account string, pullSecrets []string) v1alpha1.PodPlan {
	plan = plan.At(IdentityDir)
	p := v1alpha1.PodPlan{ServiceAccountName: account}
	for _, name := range pullSecrets {
		p.ImagePullSecrets = append(p.ImagePullSecrets, v1alpha1.SecretName{Name: name})
	}
	addTo(&p, target, plan.Pods, func(m identity.PodMetadata) identity.Target { return m.For }, addMetadata)
	addTo(&p, target, plan.Env, func(e identity.Env) identity.Target { return e.For }, addEnv)
	addTo(&p, target, plan.Tokens, func(t identity.Token) identity.Target { return t.For }, addToken)
	addTo(&p, target, plan.Files, func(f identity.File) identity.Target { return f.For }, addFile)
	addTo(&p, target, plan.Dirs, func(d identity.EmptyDir) identity.Target { return d.For }, addDir)
	addTo(&p, target, plan.Waits, func(w identity.Wait) identity.Target { return w.For }, addWait)
	return p
}

// addTo adds those of a plan's items that are for the target.
func addTo[T any](p *v1alpha1.PodPlan, target identity.Target, items []T, isFor func(T) identity.Target, add func(*v1alpha1.PodPlan, T)) {
	for _, item := range items {
		if isFor(item).Has(target) {
			add(p, item)
		}
	}
}

func addMetadata(p *v1alpha1.PodPlan, m identity.PodMetadata) {
	p.Labels = with(p.Labels, m.Labels)
	p.Annotations = with(p.Annotations, m.Annotations)
	p.NodeSelector = with(p.NodeSelector, m.NodeSelector)
}

func addEnv(p *v1alpha1.PodPlan, e identity.Env) {
	p.Env = append(p.Env, v1alpha1.EnvVar{Name: e.Name, Value: literal(e.Value)})
}

func addDir(p *v1alpha1.PodPlan, d identity.EmptyDir) {
	p.Volumes = append(p.Volumes, v1alpha1.Volume{Name: d.Volume, EmptyDir: &corev1.EmptyDirVolumeSource{}})
	p.VolumeMounts = append(p.VolumeMounts, v1alpha1.VolumeMount{Name: d.Volume, MountPath: d.Path})
}

// addWait makes the init container that waits, by the wait command of this program.
func addWait(p *v1alpha1.PodPlan, w identity.Wait) {
	args := []string{"wait", "--url=" + literal(w.URL)}
	for _, name := range slices.Sorted(maps.Keys(w.Header)) {
		args = append(args, "--header="+literal(name+": "+w.Header[name]))
	}
	p.InitContainers = append(p.InitContainers, v1alpha1.InitContainer{Name: InitContainerPrefix + w.Name, Args: args})
}

// literal keeps the kubelet from expanding $(NAME) in a value.
func literal(value string) string { return strings.ReplaceAll(value, "$(", "$$(") }

func with(into, from map[string]string) map[string]string {
	if len(from) == 0 {
		return into
	}
	if into == nil {
		return maps.Clone(from)
	}
	maps.Copy(into, from)
	return into
}

// addToken leaves defaultMode unset, as EKS's webhook does. The kubelet then decides who can read the file; see Apply.
func addToken(p *v1alpha1.PodPlan, t identity.Token) {
	volume, dir, file := t.Volume, path.Dir(t.Path), path.Base(t.Path)
	if below, ok := strings.CutPrefix(t.Path, IdentityDir+"/"); ok && volume == "" {
		volume, dir, file = IdentityVolume, IdentityDir, below
	}
	addSource(p, volume, dir, corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
		Audience:          t.Audience,
		ExpirationSeconds: new(int64(t.Lifetime.Seconds())),
		Path:              file,
	}})
}

// addFile makes a file ride on the pod itself, in an annotation: it needs no ConfigMap that would have to exist before the pod,
// stay after the plan changed, and be cleaned up.
func addFile(p *v1alpha1.PodPlan, f identity.File) {
	below := strings.TrimPrefix(f.Path, IdentityDir+"/")
	key := fileAnnotation(below)
	p.Annotations = with(p.Annotations, map[string]string{key: f.Content})
	item := corev1.DownwardAPIVolumeFile{
		Path: below,
		// apiVersion is what the API server would fill in; spelled out, live and planned volumes compare equal.
		FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" + key + "']"},
	}
	addSource(p, IdentityVolume, IdentityDir, corev1.VolumeProjection{
		DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{item}},
	})
}

// addSource adds a source to the projected volume of that name, which is mounted read-only at dir.
func addSource(p *v1alpha1.PodPlan, volume, dir string, s corev1.VolumeProjection) {
	i := slices.IndexFunc(p.Volumes, func(v v1alpha1.Volume) bool { return v.Name == volume })
	if i < 0 {
		i = len(p.Volumes)
		p.Volumes = append(p.Volumes, v1alpha1.Volume{Name: volume, Projected: &corev1.ProjectedVolumeSource{}})
	}
	p.Volumes[i].Projected.Sources = merged(p.Volumes[i].Projected.Sources, s)
	mount := v1alpha1.VolumeMount{Name: volume, MountPath: dir, ReadOnly: true}
	if !slices.Contains(p.VolumeMounts, mount) {
		p.VolumeMounts = append(p.VolumeMounts, mount)
	}
}

// merged puts all files into one downwardAPI source.
func merged(sources []corev1.VolumeProjection, s corev1.VolumeProjection) []corev1.VolumeProjection {
	for _, have := range sources {
		if have.DownwardAPI != nil && s.DownwardAPI != nil {
			have.DownwardAPI.Items = append(have.DownwardAPI.Items, s.DownwardAPI.Items...)
			return sources
		}
	}
	return append(sources, s)
}
