// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

// FuzzApply feeds Apply whatever JSON there is: it must give a pod or an error, and keep what apply checks.
func FuzzApply(f *testing.F) {
	files, err := filepath.Glob("testdata/apply/*.yaml")
	require.NoError(f, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		pod, err := yaml.YAMLToJSON(b)
		require.NoError(f, err)
		f.Add(pod)
	}
	f.Add([]byte(`{"spec":{"containers":[{"name":"runner","env":[{"name":{}}],"volumeMounts":[{"subPath":[]}]}],"volumes":[{"name":[]}]}}`))
	f.Add([]byte(`{"metadata":{"labels":{"a":{}}},"spec":{"nodeSelector":{"kubernetes.io/os":[]},"imagePullSecrets":[{}]}}`))
	plan := awsPodPlan()
	plan.Labels, plan.Annotations, plan.NodeSelector = map[string]string{"a": "b"}, map[string]string{"a": "b"}, map[string]string{"a": "b"}
	f.Fuzz(func(t *testing.T, b []byte) {
		var pod podspec.Object
		if json.Unmarshal(b, &pod) != nil {
			t.Skip()
		}
		if _, _, err := podspec.Apply(pod, plan, podspec.RunnerContainer); err != nil {
			assert.ErrorContains(t, err, "malformed pod: ")
			return
		}
		after, _ := apply(t, pod, plan, podspec.RunnerContainer)
		assert.Empty(t, lost("pod", pod, after))
	})
}

// FuzzHookTemplate feeds HookTemplate whatever a user may have written: what it gives is YAML with a job container.
func FuzzHookTemplate(f *testing.F) {
	f.Add([]byte(``))
	f.Add([]byte(`{spec: {containers: [{name: $job, env: [{name: A}]}], imagePullSecrets: [{name: a}]}}`))
	f.Add([]byte("metadata: {labels: {a: b}}\nspec:\n  tolerations: [{key: a}]\n"))
	f.Fuzz(func(t *testing.T, user []byte) {
		got, err := podspec.HookTemplate(awsPodPlan(), user)
		if err != nil {
			assert.ErrorContains(t, err, "hook template: ")
			return
		}
		var template podspec.Object
		require.NoError(t, yaml.Unmarshal(got, &template))
		assert.Contains(t, names(template["spec"].(podspec.Object)["containers"]), podspec.HookJobContainer)
	})
}

// FuzzImageHost checks that a host is one, or that there is an error.
func FuzzImageHost(f *testing.F) {
	for _, image := range []string{"busybox", "ghcr.io/a/b:c", "localhost:5000/a", "a@sha256:b", ""} {
		f.Add(image)
	}
	f.Fuzz(func(t *testing.T, image string) {
		host, err := podspec.ImageHost(image)
		if err == nil {
			assert.Regexp(t, `^[^/\s]+$`, host)
		}
	})
}

func BenchmarkApply(b *testing.B) {
	pod, plan := load[podspec.Object](b, "apply/dind-native-sidecar.yaml"), awsPodPlan()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := podspec.Apply(pod, plan, podspec.RunnerContainer); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunnerPod(b *testing.B) {
	r := runnerOf(load[v1alpha1.RunnerTemplate](b, "runnerpod/legacy.yaml"), new(awsPodPlan()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := podspec.RunnerPod(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTemplateHash(b *testing.B) {
	template, plan := load[v1alpha1.RunnerTemplate](b, "runnerpod/legacy.yaml"), awsPodPlan()
	b.ReportAllocs()
	for b.Loop() {
		podspec.TemplateHash(template, &plan, defaultImage)
	}
}
