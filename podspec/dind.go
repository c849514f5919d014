// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// The names and paths of containerMode dind are those of ARC's scale set chart, so that what people have built around them fits.
const (
	dindImage          = "docker:dind"
	externalsContainer = "init-dind-externals"
	externalsVolume    = "dind-externals"
	externalsDir       = "/home/runner/externals"
	externalsTarget    = "/home/runner/tmpDir"
	dindSockVolume     = "dind-sock"
	dindSockDir        = "/var/run"
	dindSocket         = "unix:///var/run/docker.sock"
	// dindGroup is the group docker of GitHub's runner image, whose members may use the socket.
	dindGroup = "123"
	// dindWait is how long the runner waits for the daemon, in seconds.
	dindWait = "120"
)

func (r Runner) dind() bool { return r.Template.Spec.ContainerMode == v1alpha1.ContainerModeDind }

// dindClientEnv tells runner and docker client where the daemon is.
func dindClientEnv() []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "DOCKER_HOST", Value: dindSocket},
		{Name: "RUNNER_WAIT_FOR_DOCKER_IN_SECONDS", Value: dindWait},
	}
}

// initContainers are the template's, behind those of the container mode: they may use the daemon and its logins already.
func (r Runner) initContainers() []corev1.Container {
	own := r.ownInit()
	if !r.dind() {
		return own
	}
	ours := []corev1.Container{r.externals()}
	if a := r.agent(); a != nil {
		ours = append(ours, r.agentContainer(*a))
	}
	return slices.Concat(ours, []corev1.Container{r.daemon()}, own)
}

// ownInit are the template's init containers, without the one that changes the daemon's.
func (r Runner) ownInit() []corev1.Container {
	own := r.Template.DeepCopy().Spec.InitContainers
	if !r.dind() {
		return own
	}
	return slices.DeleteFunc(own, isDind)
}

func isDind(c corev1.Container) bool { return c.Name == DindContainer }

// externals hands the runner's own node programs to the daemon, in whose filesystem the paths of bind mounts are looked up.
func (r Runner) externals() corev1.Container {
	return corev1.Container{
		Name:            externalsContainer,
		Image:           runnerImage(r.Template.Spec, r.DefaultImage),
		ImagePullPolicy: r.Template.Spec.ImagePullPolicy,
		Command:         []string{"cp"},
		Args:            []string{"-r", externalsDir + "/.", externalsTarget + "/"},
		VolumeMounts:    []corev1.VolumeMount{{Name: externalsVolume, MountPath: externalsTarget}},
	}
}

// daemon is the docker daemon, a native sidecar: it is up before the runner starts and does not keep the pod from ending. What an
// init container called dind of the template has itself wins, such as an image of a private registry.
func (r Runner) daemon() corev1.Container {
	t := r.Template.DeepCopy().Spec
	c := corev1.Container{Name: DindContainer}
	if i := slices.IndexFunc(t.InitContainers, isDind); i >= 0 {
		c = t.InitContainers[i]
	}
	c.Image = cmp.Or(c.Image, dindImage)
	if len(c.Command)+len(c.Args) == 0 {
		c.Args = daemonArgs(t)
	}
	c.Env = mergeBy(envName, []corev1.EnvVar{{Name: "DOCKER_GROUP_GID", Value: dindGroup}}, mergeBy(envName, t.DockerEnv, c.Env))
	c.VolumeMounts = mergeBy(mountAt, r.daemonMounts(), mergeBy(mountAt, t.DockerVolumeMounts, c.VolumeMounts))
	if len(c.Resources.Limits)+len(c.Resources.Requests)+len(c.Resources.Claims) == 0 {
		c.Resources = t.DockerdContainerResources
	}
	c.SecurityContext = cmp.Or(c.SecurityContext, daemonSecurity())
	c.StartupProbe = cmp.Or(c.StartupProbe, daemonProbe())
	c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	return c
}

// daemonArgs are the daemon's, with what the legacy API has fields for.
func daemonArgs(t v1alpha1.RunnerSpec) []string {
	args := []string{"dockerd", "--host=" + dindSocket, "--group=$(DOCKER_GROUP_GID)"}
	if mtu := t.DockerMTU; mtu != nil {
		// The first is for the default bridge alone; the runner makes a network of its own for each job.
		args = append(args, fmt.Sprintf("--mtu=%d", *mtu), fmt.Sprintf("--default-network-opt=bridge=com.docker.network.driver.mtu=%d", *mtu))
	}
	if mirror := t.DockerRegistryMirror; mirror != nil && *mirror != "" {
		args = append(args, "--registry-mirror="+literal(*mirror))
	}
	return args
}

func (r Runner) daemonMounts() []corev1.VolumeMount {
	return []corev1.VolumeMount{
		r.workMount(),
		{Name: dindSockVolume, MountPath: dindSockDir},
		{Name: externalsVolume, MountPath: externalsDir},
	}
}

// workMount is what the runner has mounted at its work directory: the daemon needs the same at the same path.
func (r Runner) workMount() corev1.VolumeMount {
	_, c := splitRunner(r.Template.Spec.Containers)
	mounts := mergeBy(mountAt, r.mounts(), mergeBy(mountAt, r.Template.Spec.VolumeMounts, c.VolumeMounts))
	i := slices.IndexFunc(mounts, func(m corev1.VolumeMount) bool { return mountAt(m) == workDir(r.Template.Spec) })
	return mounts[i]
}

// daemonSecurity says root: a user that the template gives the pod is meant for the runner, and the daemon would not start as it.
func daemonSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{Privileged: new(true), RunAsUser: new(int64(0)), RunAsNonRoot: new(false)}
}

func daemonProbe() *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"docker", "info"}}},
		PeriodSeconds:    5,
		FailureThreshold: 24,
	}
}

// withDindVolumes are the volumes, and those of containerMode dind that a template does not have of its own.
func withDindVolumes(t v1alpha1.RunnerSpec, volumes []corev1.Volume) []corev1.Volume {
	if t.ContainerMode != v1alpha1.ContainerModeDind {
		return volumes
	}
	sock := &corev1.EmptyDirVolumeSource{SizeLimit: t.DockerVarRunVolumeSizeLimit}
	if sock.SizeLimit != nil {
		sock.Medium = corev1.StorageMediumMemory
	}
	ours := []corev1.Volume{
		{Name: dindSockVolume, VolumeSource: corev1.VolumeSource{EmptyDir: sock}},
		{Name: externalsVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	return mergeBy(func(v corev1.Volume) string { return v.Name }, ours, volumes)
}
