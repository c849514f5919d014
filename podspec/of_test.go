// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/internal/golden"
	"github.com/runner-identity/runner-identity/podspec"
)

func TestOf(t *testing.T) {
	gke := identity.PodMetadata{NodeSelector: map[string]string{"iam.gke.io/gke-metadata-server-enabled": "true"}}
	gke.For = identity.Both
	gke.Labels = map[string]string{"example.com/identity": "gcp"}
	for name, tc := range map[string]struct {
		plan   identity.Plan
		target identity.Target
		golden string
	}{
		"AWS's token keeps the volume and the path that EKS's webhook knows": {awsPlan(), identity.Runner, "aws"},
		"a config file rides in an annotation of the pod and shares a volume with its token": {
			chainPlan(), identity.Job, "chain",
		},
		"labels and node selector of a cloud whose nodes serve the identity": {
			identity.Plan{Pods: []identity.PodMetadata{gke}}, identity.Job, "gke",
		},
		"a plan for other targets gives account and pull secrets only": {
			identity.Plan{
				Env:    []identity.Env{{Name: "A", Value: "a", For: identity.Runner}},
				Tokens: []identity.Token{{Path: identity.Dir + "/token", Audience: "a", Lifetime: time.Hour, For: identity.Runner}},
				Files:  []identity.File{{Path: identity.Dir + "/f", For: identity.Runner}},
				Pods:   []identity.PodMetadata{{Metadata: identity.Metadata{Labels: gke.Labels, For: identity.Runner}}},
			}, identity.Job, "nothing",
		},
		"two tokens and two files share one volume": {
			identity.Plan{
				Tokens: []identity.Token{
					{Path: identity.Dir + "/a", Audience: "a", Lifetime: time.Hour, For: identity.Both},
					{Path: identity.Dir + "/b", Audience: "b", Lifetime: 10 * time.Minute, For: identity.Both},
				},
				Files: []identity.File{
					{Path: identity.Dir + "/one", Content: "1", For: identity.Both},
					{Path: identity.Dir + "/sub/two", Content: "2", For: identity.Both},
				},
			}, identity.Runner, "shared",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := yaml.Marshal(podspec.Of(tc.plan, tc.target, "website-runner", []string{"website-registry"}))
			require.NoError(t, err)
			golden.Check(t, "of/"+tc.golden+".yaml", string(b))
		})
	}
}

func TestOfNothing(t *testing.T) {
	assert.Equal(t, v1alpha1.PodPlan{}, podspec.Of(identity.Plan{}, identity.Runner, "", nil))
}

func TestAValueOfAPlanIsNotExpandedByTheKubelet(t *testing.T) {
	plan := identity.Plan{Env: []identity.Env{{Name: "A", Value: "$(HOME) and $5", For: identity.Runner}}}
	p := podspec.Of(plan, identity.Runner, "", nil)
	assert.Equal(t, []v1alpha1.EnvVar{{Name: "A", Value: "$$(HOME) and $5"}}, p.Env)
}

func TestOfLeavesItsPlanAlone(t *testing.T) {
	plan := identity.Plan{Pods: []identity.PodMetadata{
		{Metadata: identity.Metadata{Labels: map[string]string{"a": "1"}, For: identity.Both}},
		{Metadata: identity.Metadata{Labels: map[string]string{"b": "2"}, For: identity.Both}},
	}}
	before := toJSON(t, plan)
	p := podspec.Of(plan, identity.Runner, "", nil)
	assert.Equal(t, map[string]string{"a": "1", "b": "2"}, p.Labels)
	assert.Equal(t, before, toJSON(t, plan))
}

func TestFileAnnotationsAreNamesThatTheAPIServerTakesAndDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, path := range []string{
		"config", "aws/config", "aws_config", "aws-config", "aws.config", "aws config", ".hidden", "-", "ends-", "ends", "a/../b",
		strings.Repeat("long/", 30) + "a", strings.Repeat("long/", 30) + "b", "grüße", "UPPER", "upper", "a" + strings.Repeat(".", 70),
	} {
		plan := identity.Plan{Files: []identity.File{{Path: identity.Dir + "/" + path, Content: path, For: identity.Runner}}}
		p := podspec.Of(plan, identity.Runner, "", nil)
		require.Len(t, p.Annotations, 1)
		for key, content := range p.Annotations {
			assert.Empty(t, validation.IsQualifiedName(key), "%q", path)
			assert.Equal(t, path, content)
			assert.Empty(t, seen[key], "%q and %q have one annotation", path, seen[key])
			seen[key] = path
			assert.Equal(t, "metadata.annotations['"+key+"']", p.Volumes[0].Projected.Sources[0].DownwardAPI.Items[0].FieldRef.FieldPath)
		}
	}
}
