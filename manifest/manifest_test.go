// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/manifest"
	"github.com/runner-identity/runner-identity/resolve"
)

func website() *v1alpha1.RunnerIdentity {
	return &v1alpha1.RunnerIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "ci", Name: "website"}}
}

func resolved(targets identity.Target, accounts identity.Accounts) resolve.Resolved {
	r := resolve.Resolved{
		Request: identity.Request{Namespace: "ci", Name: "website", Accounts: accounts, Targets: targets},
		Plan: identity.Plan{
			Accounts: []identity.Metadata{{
				Annotations: map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/ci"},
				For:         targets,
			}},
			Registries: []identity.Registry{{Host: "111122223333.dkr.ecr.eu-west-1.amazonaws.com", For: targets}},
		},
		Runner: &v1alpha1.PodPlan{},
	}
	if targets.Has(identity.Job) {
		r.Job = &v1alpha1.PodPlan{}
	}
	return r
}

func TestServiceAccounts(t *testing.T) {
	two := identity.Accounts{Runner: "website-runner", Job: "website-job"}
	pull := []corev1.LocalObjectReference{{Name: "website-registry"}}

	t.Run("the runner alone has one account, bound and with the pull secret", func(t *testing.T) {
		accounts := manifest.ServiceAccounts(website(), resolved(identity.Runner, two))
		require.Len(t, accounts, 1)
		assert.Equal(t, "website-runner", accounts[0].Name)
		assert.Contains(t, accounts[0].Annotations, "eks.amazonaws.com/role-arn")
		assert.Equal(t, pull, accounts[0].ImagePullSecrets)
	})
	t.Run("in kubernetes mode the runner's account has no binding: whoever may create pods must hold no cloud rights", func(t *testing.T) {
		accounts := manifest.ServiceAccounts(website(), resolved(identity.Job, two))
		require.Len(t, accounts, 2)
		assert.Equal(t, "website-runner", accounts[0].Name)
		assert.Empty(t, accounts[0].Annotations)
		assert.Equal(t, "website-job", accounts[1].Name)
		assert.Contains(t, accounts[1].Annotations, "eks.amazonaws.com/role-arn")
	})
	t.Run("one account for both is made once", func(t *testing.T) {
		accounts := manifest.ServiceAccounts(website(), resolved(identity.Both, identity.Accounts{Runner: "ci", Job: "ci"}))
		require.Len(t, accounts, 1)
		assert.Contains(t, accounts[0].Annotations, "eks.amazonaws.com/role-arn")
	})
}

func TestRegistrySecret(t *testing.T) {
	early := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	login := func(host string, expires time.Time) manifest.Login {
		return manifest.Login{Host: host, Credential: identity.Credential{Username: "AWS", Password: identity.NewSecret("pass:word"), Expires: expires}}
	}

	t.Run("has a bare host as key and says when its first login expires", func(t *testing.T) {
		s, err := manifest.RegistrySecret(website(), []manifest.Login{
			login("public.ecr.aws", early.Add(time.Hour)),
			login("111122223333.dkr.ecr.eu-west-1.amazonaws.com", early),
		})
		require.NoError(t, err)
		assert.Equal(t, "website-registry", s.Name)
		assert.Equal(t, corev1.SecretTypeDockerConfigJson, s.Type)
		assert.Equal(t, "2026-01-02T03:04:05Z", s.Annotations[v1alpha1.AnnotationExpires])

		var config struct {
			Auths map[string]struct{ Username, Password, Auth string }
		}
		require.NoError(t, json.Unmarshal(s.Data[corev1.DockerConfigJsonKey], &config))
		require.Len(t, config.Auths, 2)
		got := config.Auths["111122223333.dkr.ecr.eu-west-1.amazonaws.com"]
		assert.Equal(t, "pass:word", got.Password)
		assert.Equal(t, "QVdTOnBhc3M6d29yZA==", got.Auth)
	})
	t.Run("a login without expiry is refused: nothing would renew it (external-secrets#6690)", func(t *testing.T) {
		_, err := manifest.RegistrySecret(website(), []manifest.Login{login("public.ecr.aws", time.Time{})})
		require.ErrorContains(t, err, "public.ecr.aws")
		assert.NotContains(t, err.Error(), "pass:word")
	})
}

func TestHookRole(t *testing.T) {
	role, binding := manifest.HookRole(website(), "website-runner")
	assert.Equal(t, role.Name, binding.RoleRef.Name)
	require.Len(t, binding.Subjects, 1)
	assert.Equal(t, "website-runner", binding.Subjects[0].Name)
	for _, rule := range role.Rules {
		assert.NotContains(t, rule.Verbs, "*", "the hooks need no wildcard")
		assert.NotContains(t, rule.Resources, "serviceaccounts/token", "a runner must not mint tokens of other accounts")
	}
}
