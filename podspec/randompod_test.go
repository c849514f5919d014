// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

// random makes pods and plans from few names and values, so that they meet often.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 0))} }

func (r random) of(values ...string) string { return values[r.IntN(len(values))] }

func (r random) rarely() bool { return r.IntN(8) == 0 }

func (r random) name() string { return r.of("a", "b", "c", "d") }

func (r random) path() string { return r.of("/a", "/a/", "/a/../b", "/b", "/b/c", "/") }

// some are up to three of what one makes.
func (r random) some(one func() podspec.Object) []any {
	values := []any{}
	for range r.IntN(4) {
		o := one()
		if r.rarely() {
			o["future"] = []any{1.5, nil, podspec.Object{"a": true}}
		}
		values = append(values, o)
	}
	return values
}

// put sets a key more often than not, and sometimes to null.
func (r random) put(o podspec.Object, key string, value any) {
	switch r.IntN(6) {
	case 0:
	case 1:
		o[key] = nil
	default:
		o[key] = value
	}
}

func (r random) pod() podspec.Object {
	meta, spec := podspec.Object{"name": "p"}, podspec.Object{"future": "spec"}
	r.put(meta, "labels", podspec.Object{r.name(): r.name(), r.name(): r.name()})
	r.put(meta, "annotations", podspec.Object{r.name(): r.name()})
	r.put(spec, "nodeSelector", podspec.Object{r.name(): r.name()})
	r.put(spec, "securityContext", podspec.Object{"fsGroup": 65534.0, "runAsNonRoot": true})
	r.put(spec, "serviceAccountName", r.of("", "default", "default", "theirs", "a"))
	if r.rarely() {
		spec["serviceAccount"] = r.of("", "default", "theirs", "a")
	}
	if r.rarely() {
		spec["os"] = podspec.Object{"name": r.of("linux", "windows")}
	}
	r.put(spec, "volumes", r.some(r.volume))
	r.put(spec, "imagePullSecrets", r.some(func() podspec.Object { return podspec.Object{"name": r.name()} }))
	r.put(spec, "containers", r.some(r.container))
	r.put(spec, "initContainers", r.some(r.container))
	r.put(spec, "ephemeralContainers", r.some(r.container))
	pod := podspec.Object{"apiVersion": "v1", "kind": "Pod", "spec": spec}
	r.put(pod, "metadata", meta)
	return pod
}

func (r random) container() podspec.Object {
	c := podspec.Object{"name": r.name(), "image": "image"}
	r.put(c, "env", r.some(r.env))
	r.put(c, "volumeMounts", r.some(r.mount))
	r.put(c, "securityContext", podspec.Object{"privileged": false, "runAsUser": 1001.0})
	r.put(c, "envFrom", []any{podspec.Object{"secretRef": podspec.Object{"name": r.name()}}})
	return c
}

func (r random) env() podspec.Object {
	e := podspec.Object{"name": r.name()}
	r.put(e, "value", r.name())
	if r.rarely() {
		e["valueFrom"] = podspec.Object{"fieldRef": podspec.Object{"fieldPath": "metadata.name"}}
	}
	return e
}

func (r random) mount() podspec.Object {
	m := podspec.Object{"name": r.name(), "mountPath": r.path()}
	r.put(m, "readOnly", true)
	if r.rarely() {
		m["subPath"] = r.of("", "part")
	}
	return m
}

func (r random) volume() podspec.Object {
	v := podspec.Object{"name": r.name()}
	switch r.IntN(4) {
	case 0:
		v["emptyDir"] = podspec.Object{}
	case 1:
		v["hostPath"] = podspec.Object{"path": "/"}
	default:
		token := podspec.Object{"audience": r.of("a", "b"), "path": "token"}
		r.put(token, "expirationSeconds", 3600.0)
		projected := podspec.Object{"sources": []any{podspec.Object{"serviceAccountToken": token}}}
		r.put(projected, "defaultMode", 420.0)
		v["projected"] = projected
	}
	return v
}

func (r random) plan() v1alpha1.PodPlan {
	p := v1alpha1.PodPlan{
		ServiceAccountName: r.of("", "a", "b"),
		Labels:             map[string]string{r.name(): r.name()}, Annotations: map[string]string{r.name(): r.name()},
		NodeSelector: map[string]string{r.name(): r.name()},
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		if r.IntN(2) == 0 {
			p.Env = append(p.Env, v1alpha1.EnvVar{Name: name, Value: r.name()})
			p.ImagePullSecrets = append(p.ImagePullSecrets, v1alpha1.SecretName{Name: name})
		}
	}
	for i, name := range []string{"a", "b", "c"}[:r.IntN(4)] {
		v := v1alpha1.Volume{Name: name, EmptyDir: &corev1.EmptyDirVolumeSource{}}
		if r.IntN(3) > 0 {
			v = v1alpha1.Volume{Name: name, Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "a", ExpirationSeconds: new(int64(86400)), Path: "token"}},
			}}}
		}
		p.Volumes = append(p.Volumes, v)
		p.VolumeMounts = append(p.VolumeMounts, v1alpha1.VolumeMount{Name: name, MountPath: []string{"/a", "/b", "/c"}[i], ReadOnly: r.IntN(2) == 0})
	}
	return p
}
