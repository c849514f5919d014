// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"fmt"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

const manyPods = 1000

// forManyPods applies random plans to random pods. That Apply is idempotent and modifies no argument is part of apply.
func forManyPods(t *testing.T, check func(t *testing.T, before, after podspec.Object, plan v1alpha1.PodPlan, conflicts []podspec.Conflict)) {
	t.Helper()
	for seed := range uint64(manyPods) {
		r := newRandom(seed)
		pod, plan := r.pod(), r.plan()
		after, conflicts := apply(t, pod, plan, "a", "b")
		check(t, pod, after, plan, conflicts)
		if t.Failed() {
			t.Fatalf("seed %d\npod %s\nplan %s\nafter %s", seed, toJSON(t, pod), toJSON(t, plan), toJSON(t, after))
		}
	}
}

func TestAllThatAPodHasSurvives(t *testing.T) {
	forManyPods(t, func(t *testing.T, before, after podspec.Object, _ v1alpha1.PodPlan, _ []podspec.Conflict) {
		assert.Empty(t, lost("pod", before, after))
	})
}

// lost is where a value is no longer in after; empty if all of it is. Lists may have become longer at their ends.
func lost(where string, before, after any) string {
	switch old := before.(type) {
	case nil: // null may have been filled in
		return ""
	case podspec.Object:
		now, ok := after.(podspec.Object)
		if !ok {
			return where
		}
		for k, v := range old {
			if in := lost(where+"."+k, v, now[k]); in != "" {
				return in
			}
		}
	case []any:
		now, ok := after.([]any)
		if !ok || len(now) < len(old) {
			return where
		}
		for i, v := range old {
			if in := lost(fmt.Sprintf("%s[%d]", where, i), v, now[i]); in != "" {
				return in
			}
		}
	default:
		replaceable := where == "pod.spec.serviceAccountName" && (old == "" || old == "default")
		// The old name of the field counts for nothing beside the new one, and follows it.
		if old != after && !replaceable && where != "pod.spec.serviceAccount" {
			return where
		}
	}
	return ""
}

func TestNothingIsAddedButWhatAPlanIs(t *testing.T) {
	inSpec := []string{"serviceAccountName", "volumes", "imagePullSecrets", "nodeSelector"}
	inContainer := []string{"env", "volumeMounts"}
	forManyPods(t, func(t *testing.T, before, after podspec.Object, _ v1alpha1.PodPlan, _ []podspec.Conflict) {
		old, now := before["spec"].(podspec.Object), after["spec"].(podspec.Object)
		assert.Subset(t, inSpec, added(old, now))
		assert.Equal(t, old["securityContext"], now["securityContext"])
		assert.Equal(t, old["ephemeralContainers"], now["ephemeralContainers"])
		for _, field := range []string{"containers", "initContainers"} {
			was, is := objects(old[field]), objects(now[field])
			require.Len(t, is, len(was), "containers are neither added nor removed")
			for i := range was {
				assert.Subset(t, inContainer, added(was[i], is[i]))
				assert.Equal(t, was[i]["securityContext"], is[i]["securityContext"])
				if name := was[i]["name"]; name != "a" && name != "b" {
					assert.Equal(t, was[i], is[i], "a container that is not named")
				}
			}
		}
	})
}

// added are the keys that only after has.
func added(before, after podspec.Object) []string {
	keys := []string{}
	for k := range after {
		if _, ok := before[k]; !ok {
			keys = append(keys, k)
		}
	}
	return keys
}

func objects(v any) []podspec.Object {
	values, _ := v.([]any)
	objects := make([]podspec.Object, len(values))
	for i := range values {
		objects[i] = values[i].(podspec.Object)
	}
	return objects
}

func TestEveryPieceOfAPlanIsInThePodOrReported(t *testing.T) {
	forManyPods(t, func(t *testing.T, _, after podspec.Object, plan v1alpha1.PodPlan, conflicts []podspec.Conflict) {
		reported := map[string]bool{}
		for _, c := range conflicts {
			reported[c.Container+" "+c.Field+" "+c.Key] = true
		}
		if reported[" spec.os name"] || reported[" spec.serviceAccountName "] {
			assert.Len(t, conflicts, 1, "the rest of the plan was not tried")
			return
		}
		spec := after["spec"].(podspec.Object)
		for _, field := range []string{"containers", "initContainers"} {
			for _, c := range objects(spec[field]) {
				if name := c["name"].(string); name == "a" || name == "b" {
					assertCarries(t, name, c, plan, reported)
				}
			}
		}
		for _, s := range plan.ImagePullSecrets {
			assert.Contains(t, names(spec["imagePullSecrets"]), s.Name)
		}
	})
}

// assertCarries checks one container for the plan's variables and mounts.
func assertCarries(t *testing.T, name string, c podspec.Object, plan v1alpha1.PodPlan, reported map[string]bool) {
	t.Helper()
	for _, e := range plan.Env {
		var value any
		for _, have := range objects(c["env"]) {
			if have["name"] == e.Name {
				value = have["value"]
			}
		}
		assert.True(t, reported[name+" env "+e.Name] || value == e.Value, "variable %s", e.Name)
	}
	for _, m := range plan.VolumeMounts {
		mounted := slices.ContainsFunc(objects(c["volumeMounts"]), func(have podspec.Object) bool {
			return have["name"] == m.Name && path.Clean(have["mountPath"].(string)) == m.MountPath
		})
		foreign := reported[" spec.volumes "+m.Name]
		assert.True(t, mounted || foreign || reported[name+" volumeMounts "+m.MountPath], "mount %s", m.MountPath)
	}
}

func names(v any) []any {
	var names []any
	for _, o := range objects(v) {
		names = append(names, o["name"])
	}
	return names
}

func TestTheOrderOfAPlansVariablesMattersNeitherToPodsNorToHashes(t *testing.T) {
	for seed := range uint64(manyPods) {
		r := newRandom(seed)
		pod, plan := r.pod(), r.plan()
		shuffled := *plan.DeepCopy()
		r.Shuffle(len(shuffled.Env), func(i, j int) { shuffled.Env[i], shuffled.Env[j] = shuffled.Env[j], shuffled.Env[i] })
		require.Equal(t, podspec.PlanHash(v1alpha1.PlanStatus{Job: &plan}), podspec.PlanHash(v1alpha1.PlanStatus{Job: &shuffled}))
		_, conflicts := apply(t, pod, plan, "a", "b")
		_, again := apply(t, pod, shuffled, "a", "b")
		require.ElementsMatch(t, conflicts, again)
	}
}
