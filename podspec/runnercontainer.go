// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"cmp"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

const defaultWorkDir = "/home/runner/_work"

// containers are the template's, the runner among them where it stands there, else at the front.
func (r Runner) containers() []corev1.Container {
	containers := r.Template.DeepCopy().Spec.Containers
	i, runner := splitRunner(containers)
	if i < 0 {
		i, containers = 0, slices.Insert(containers, 0, runner)
	}
	containers[i] = r.container(runner)
	return containers
}

// splitRunner is the container called runner and where it stands; -1 and an empty one if there is none.
func splitRunner(containers []corev1.Container) (int, corev1.Container) {
	i := slices.IndexFunc(containers, isRunner)
	if i < 0 {
		return i, corev1.Container{Name: RunnerContainer}
	}
	return i, containers[i]
}

func isRunner(c corev1.Container) bool { return c.Name == RunnerContainer }

// withoutRunner leaves out the first container called runner.
func withoutRunner(containers []corev1.Container) []corev1.Container {
	i, _ := splitRunner(containers)
	if i < 0 {
		return containers
	}
	return slices.Delete(slices.Clone(containers), i, i+1)
}

// container completes the runner's container from the template's top level. What the container has itself wins: image, pull
// policy, envFrom and resources as a whole, variables by name, mounts by path.
func (r Runner) container(c corev1.Container) corev1.Container {
	t := r.Template.DeepCopy().Spec
	c.Image = runnerImage(r.Template.Spec, r.DefaultImage)
	c.ImagePullPolicy = cmp.Or(c.ImagePullPolicy, t.ImagePullPolicy)
	if len(c.Command) == 0 {
		c.Command = []string{"/home/runner/run.sh"}
	}
	if len(c.EnvFrom) == 0 {
		c.EnvFrom = t.EnvFrom
	}
	if len(c.Resources.Limits)+len(c.Resources.Requests)+len(c.Resources.Claims) == 0 {
		c.Resources = t.Resources
	}
	c.Env = r.withoutHook(mergeBy(envName, r.env(), mergeBy(envName, t.Env, c.Env)))
	c.VolumeMounts = mergeBy(mountAt, r.mounts(), mergeBy(mountAt, t.VolumeMounts, c.VolumeMounts))
	return c
}

// mounts are those of the runner that a template can replace.
func (r Runner) mounts() []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{{Name: WorkVolume, MountPath: workDir(r.Template.Spec)}}
	if r.dind() {
		mounts = append(mounts, corev1.VolumeMount{Name: dindSockVolume, MountPath: dindSockDir})
	}
	return mounts
}

func workDir(t v1alpha1.RunnerSpec) string { return path.Clean(cmp.Or(t.WorkDir, defaultWorkDir)) }

// runnerImage is the image of a template's runner.
func runnerImage(t v1alpha1.RunnerSpec, defaultImage string) string {
	_, runner := splitRunner(t.Containers)
	return cmp.Or(runner.Image, t.Image, defaultImage)
}

func (r Runner) env() []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: envJITConfig, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: r.Name}, Key: SecretKeyJITConfig,
		}}},
		{Name: envUserAgent, Value: v1alpha1.FieldOwner},
	}
	if r.dind() {
		env = append(env, dindClientEnv()...)
	}
	return env
}

func envName(e corev1.EnvVar) string { return e.Name }

func mountAt(m corev1.VolumeMount) string { return path.Clean(m.MountPath) }

// mergeBy is base without what over has under the same key, and then over.
func mergeBy[T any](key func(T) string, base, over []T) []T {
	kept := slices.DeleteFunc(slices.Clone(base), func(b T) bool {
		return slices.ContainsFunc(over, func(o T) bool { return key(o) == key(b) })
	})
	return append(kept, over...)
}

// withWorkVolume are the template's volumes, with an empty directory to work in unless one of them is for that.
func withWorkVolume(t v1alpha1.RunnerSpec) []corev1.Volume {
	if slices.ContainsFunc(t.Volumes, func(v corev1.Volume) bool { return v.Name == WorkVolume }) {
		return t.Volumes
	}
	return slices.Insert(t.Volumes, 0, corev1.Volume{Name: WorkVolume, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{
			Medium: corev1.StorageMedium(t.VolumeStorageMedium), SizeLimit: t.VolumeSizeLimit,
		},
	}})
}
