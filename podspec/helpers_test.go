// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/internal/golden"
	"github.com/runner-identity/runner-identity/podspec"
)

// goldenPod compares a pod and its conflicts, which stand as comments above it, so that the file stays one to paste.
func goldenPod(t *testing.T, name string, pod podspec.Object, conflicts []podspec.Conflict) {
	t.Helper()
	var b bytes.Buffer
	for _, c := range conflicts {
		fmt.Fprintf(&b, "# conflict: %s\n", c)
	}
	body, err := yaml.Marshal(pod)
	require.NoError(t, err)
	b.Write(body)
	golden.Check(t, name, b.String())
}

func load[T any](t testing.TB, name string) T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return parse[T](t, string(b))
}

func parse[T any](t testing.TB, text string) T {
	t.Helper()
	var v T
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &v))
	return v
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// apply is podspec.Apply with what must hold of it always.
func apply(t testing.TB, pod podspec.Object, plan v1alpha1.PodPlan, containers ...string) (podspec.Object, []podspec.Conflict) {
	t.Helper()
	podBefore, planBefore := toJSON(t, pod), toJSON(t, plan)
	once, conflicts, err := podspec.Apply(pod, plan, containers...)
	require.NoError(t, err)
	require.Equal(t, podBefore, toJSON(t, pod), "the pod that was passed in has changed")
	require.Equal(t, planBefore, toJSON(t, plan), "the plan that was passed in has changed")
	twice, again, err := podspec.Apply(once, plan, containers...)
	require.NoError(t, err)
	require.Equal(t, toJSON(t, once), toJSON(t, twice), "applied twice is not the same as applied once")
	require.Equal(t, conflicts, again, "applied twice has other conflicts than applied once")
	return once, conflicts
}

// awsPlan is a plan of the shape that the AWS provider makes with binding Inject.
func awsPlan() identity.Plan {
	const dir = "/var/run/secrets/eks.amazonaws.com/serviceaccount"
	return identity.Plan{
		Principal: "arn:aws:iam::111122223333:role/ci",
		Tokens: []identity.Token{{
			Path: dir + "/token", Volume: "aws-iam-token", Audience: "sts.amazonaws.com", Lifetime: 24 * time.Hour, For: identity.Both,
		}},
		Env: []identity.Env{
			{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111122223333:role/ci", For: identity.Both},
			{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: dir + "/token", For: identity.Both},
			{Name: "AWS_ROLE_SESSION_NAME", Value: "ci-website", For: identity.Both},
			{Name: "AWS_REGION", Value: "eu-west-1", For: identity.Both},
			{Name: "AWS_DEFAULT_REGION", Value: "eu-west-1", For: identity.Both},
			{Name: "AWS_STS_REGIONAL_ENDPOINTS", Value: "regional", For: identity.Both},
			{Name: "AWS_EC2_METADATA_DISABLED", Value: "true", For: identity.Both},
		},
	}
}

// chainPlan is a plan of the shape that role chaining makes: a config file, and a token below identity.Dir for it.
func chainPlan() identity.Plan {
	return identity.Plan{
		Tokens: []identity.Token{{Path: identity.Dir + "/token", Audience: "sts.amazonaws.com", Lifetime: time.Hour, For: identity.Both}},
		Files: []identity.File{{Path: identity.Dir + "/aws/config", For: identity.Both, Content: "[profile base]\n" +
			"role_arn = arn:aws:iam::111122223333:role/ci\nweb_identity_token_file = " + identity.Dir + "/token\n\n" +
			"[default]\nrole_arn = arn:aws:iam::444455556666:role/deploy\nsource_profile = base\n"}},
		Env: []identity.Env{{Name: "AWS_CONFIG_FILE", Value: identity.Dir + "/aws/config", For: identity.Both}},
	}
}

func awsPodPlan() v1alpha1.PodPlan {
	return podspec.Of(awsPlan(), identity.Runner, "website-runner", []string{"website-registry"})
}

// fileName is a sentence as the name of a golden file.
func fileName(sentence string) string {
	words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(words, "-") + ".yaml"
}
