// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// echo is a provider that plans what it is asked: its plan shows what reached it.
type echo struct{ name string }

func (e echo) Name() string { return e.name }

func (e echo) Plan(r identity.Request) (identity.Plan, error) {
	var settings struct{ RoleARN, Region, Flavour string }
	if err := json.Unmarshal(r.Settings, &settings); err != nil {
		return identity.Plan{}, err
	}
	plan := identity.Plan{
		Principal: settings.RoleARN,
		Env:       []identity.Env{{Name: "CLOUD_REGION", Value: settings.Region + settings.Flavour, For: r.Targets}},
	}
	for _, h := range append(r.Registries, r.ImageHosts...) {
		plan.Registries = append(plan.Registries, identity.Registry{Host: h, For: r.Targets})
	}
	return plan, nil
}

func input(t *testing.T, change func(*resolve.Input)) resolve.Input {
	t.Helper()
	set, err := identity.NewSet(echo{"aws"}, echo{"mine"})
	require.NoError(t, err)
	in := resolve.Input{
		Providers: set,
		Identity: &v1alpha1.RunnerIdentity{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ci", Name: "website"},
			Spec: v1alpha1.RunnerIdentitySpec{
				IdentityProvider: "aws",
				Identity:         v1alpha1.Identity{AWS: &v1alpha1.AWSIdentity{RoleARN: "arn:aws:iam::111122223333:role/ci"}},
			},
		},
	}
	if change != nil {
		change(&in)
	}
	return in
}

func provider(change func(*v1alpha1.IdentityProviderSpec)) *v1alpha1.IdentityProvider {
	p := &v1alpha1.IdentityProvider{
		ObjectMeta: metav1.ObjectMeta{Name: "aws"},
		Spec: v1alpha1.IdentityProviderSpec{Plugin: "aws", AWS: &v1alpha1.AWSDefaults{
			AWSIdentity: v1alpha1.AWSIdentity{Region: "eu-west-1", RoleARN: "arn:aws:iam::111122223333:role/default"},
			Endpoints:   v1alpha1.AWSEndpoints{STS: "https://sts.internal.example.com"},
		}},
	}
	change(&p.Spec)
	return p
}

func TestIdentity(t *testing.T) {
	t.Run("a built-in plug-in works by its name without an IdentityProvider", func(t *testing.T) {
		r, err := resolve.Identity(input(t, nil))
		require.NoError(t, err)
		assert.Equal(t, "aws", r.Provider.Name())
		assert.Equal(t, identity.Accounts{Runner: "website-runner", Job: "website-job"}, r.Request.Accounts)
		assert.Equal(t, identity.Runner, r.Request.Targets)
		assert.Equal(t, "website-runner", r.Runner.ServiceAccountName)
		assert.Nil(t, r.Job)
	})
	t.Run("the user's values go over the admin's defaults, field by field, and the admin's endpoints stay", func(t *testing.T) {
		r, err := resolve.Identity(input(t, func(in *resolve.Input) {
			in.Provider = provider(func(*v1alpha1.IdentityProviderSpec) {})
		}))
		require.NoError(t, err)
		assert.Equal(t, "arn:aws:iam::111122223333:role/ci", r.Plan.Principal)
		assert.Equal(t, "eu-west-1", r.Plan.Env[0].Value)
		assert.JSONEq(t, `{"roleARN":"arn:aws:iam::111122223333:role/ci","region":"eu-west-1","endpoints":{"sts":"https://sts.internal.example.com"}}`, string(r.Request.Settings))
	})
	t.Run("an IdentityProvider of any name leads to its plug-in, with its issuer before the cluster's", func(t *testing.T) {
		r, err := resolve.Identity(input(t, func(in *resolve.Input) {
			in.Identity.Spec.IdentityProvider = "production"
			in.Issuer = "https://kubernetes.default.svc"
			in.Provider = provider(func(s *v1alpha1.IdentityProviderSpec) { s.Issuer = "https://oidc.example.com" })
		}))
		require.NoError(t, err)
		assert.Equal(t, "https://oidc.example.com", r.Request.Issuer)
	})
	t.Run("a plug-in that is not built in reads parameters", func(t *testing.T) {
		r, err := resolve.Identity(input(t, func(in *resolve.Input) {
			in.Identity.Spec.IdentityProvider = "mine"
			in.Identity.Spec.Identity = v1alpha1.Identity{Parameters: map[string]string{"flavour": "sweet"}}
		}))
		require.NoError(t, err)
		assert.Equal(t, "sweet", r.Plan.Env[0].Value)
	})
	t.Run("pods keep the pull secrets that their account has of its own, after ours", func(t *testing.T) {
		r, err := resolve.Identity(input(t, func(in *resolve.Input) {
			in.Identity.Spec.Images = []string{"registry.example.com/runner:1"}
			in.AccountPullSecrets = map[string][]string{"website-runner": {"theirs", "website-registry"}}
		}))
		require.NoError(t, err)
		assert.Equal(t, []v1alpha1.SecretName{{Name: "website-registry"}, {Name: "theirs"}}, r.Runner.ImagePullSecrets)
	})
	t.Run("jobs get a part of their own when they are a target", func(t *testing.T) {
		r, err := resolve.Identity(input(t, func(in *resolve.Input) {
			in.Identity.Spec.Identity.Targets = []v1alpha1.IdentityTarget{v1alpha1.TargetJob}
		}))
		require.NoError(t, err)
		require.NotNil(t, r.Job)
		assert.Equal(t, "website-job", r.Job.ServiceAccountName)
		assert.Empty(t, r.Runner.Env, "the runner, which may create pods, has no part of the identity")
	})
}

func TestIdentityRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*resolve.Input)
		reason identity.Reason
		want   []string
	}{
		"an unknown provider, and lists those that this build has": {
			change: func(in *resolve.Input) { in.Identity.Spec.IdentityProvider = "azure" },
			reason: resolve.ProviderNotFound,
			want:   []string{"identityProvider", `"azure"`, "aws, mine"},
		},
		"a plug-in that this build does not have": {
			change: func(in *resolve.Input) {
				in.Provider = provider(func(s *v1alpha1.IdentityProviderSpec) { s.Plugin = "azure"; s.AWS = nil })
			},
			reason: resolve.ProviderNotFound,
			want:   []string{"plugin", `"azure"`, "aws, mine"},
		},
		"a namespace that the admin does not allow": {
			change: func(in *resolve.Input) {
				in.NamespaceLabels = map[string]string{"team": "guest"}
				in.Provider = provider(func(s *v1alpha1.IdentityProviderSpec) {
					s.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "web"}}
				})
			},
			reason: resolve.NotAllowed,
			want:   []string{`"ci"`, "allowedNamespaces", "team=web"},
		},
		"a role outside of allowedPrincipals": {
			change: func(in *resolve.Input) {
				in.Identity.Spec.Identity.AWS.RoleARN = "arn:aws:iam::111122223333:role/admin"
				in.Provider = provider(func(s *v1alpha1.IdentityProviderSpec) {
					s.AllowedPrincipals = []string{"arn:aws:iam::111122223333:role/ci*"}
				})
			},
			reason: resolve.NotAllowed,
			want:   []string{"arn:aws:iam::111122223333:role/admin", "arn:aws:iam::111122223333:role/ci*"},
		},
		"a principal that cannot be known, where the admin allows only some": {
			change: func(in *resolve.Input) {
				in.Identity.Spec.Identity.AWS.RoleARN = ""
				in.Provider = provider(func(s *v1alpha1.IdentityProviderSpec) {
					s.AWS.RoleARN = ""
					s.AllowedPrincipals = []string{"*"}
				})
			},
			reason: resolve.NotAllowed,
			want:   []string{"allowedPrincipals", "PodIdentityAssociation"},
		},
		"settings for another plug-in, which would be ignored without a word": {
			change: func(in *resolve.Input) {
				in.Identity.Spec.Identity.AWS = nil
				in.Identity.Spec.Identity.GCP = &v1alpha1.GCPIdentity{ProjectID: "acme-ci"}
			},
			reason: identity.Invalid,
			want:   []string{"identity.gcp", `"aws"`, "identity.aws"},
		},
		"an image that is none": {
			change: func(in *resolve.Input) { in.Identity.Spec.Images = []string{"Not An Image"} },
			reason: identity.Invalid,
			want:   []string{"image", "Not An Image"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := resolve.Identity(input(t, c.change))
			require.Error(t, err)
			assert.Equal(t, c.reason, identity.ReasonOf(err))
			for _, want := range c.want {
				assert.Contains(t, err.Error(), want)
			}
		})
	}
}

func TestOwned(t *testing.T) {
	rd := func(change func(*v1alpha1.RunnerSpec)) *v1alpha1.RunnerDeployment {
		rd := &v1alpha1.RunnerDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ci", Name: "website"}}
		rd.Spec.Template.Spec.IdentityProvider = "aws"
		change(&rd.Spec.Template.Spec)
		return rd
	}

	t.Run("no provider, no RunnerIdentity", func(t *testing.T) {
		assert.Nil(t, resolve.Owned(rd(func(s *v1alpha1.RunnerSpec) { s.IdentityProvider = "" })))
	})
	t.Run("the runner has the identity where it runs the jobs itself", func(t *testing.T) {
		ri := resolve.Owned(rd(func(*v1alpha1.RunnerSpec) {}))
		assert.Equal(t, []v1alpha1.IdentityTarget{v1alpha1.TargetRunner}, ri.Spec.Identity.Targets)
	})
	t.Run("the job alone has it in kubernetes mode", func(t *testing.T) {
		ri := resolve.Owned(rd(func(s *v1alpha1.RunnerSpec) { s.ContainerMode = v1alpha1.ContainerModeKubernetes }))
		assert.Equal(t, []v1alpha1.IdentityTarget{v1alpha1.TargetJob}, ri.Spec.Identity.Targets)
	})
	t.Run("the images are those of all containers, and the default where no runner image is named", func(t *testing.T) {
		change := func(s *v1alpha1.RunnerSpec) {
			s.SidecarContainers = []corev1.Container{{Name: "proxy", Image: "proxy:1"}}
			s.InitContainers = []corev1.Container{{Name: "setup", Image: "proxy:1"}}
		}
		assert.Equal(t, []string{"proxy:1", "runner:1"}, resolve.Owned(rd(change), "runner:1").Spec.Images)
	})
	t.Run("the legacy serviceAccountName names the runner's account, and the user's object is not changed", func(t *testing.T) {
		in := rd(func(s *v1alpha1.RunnerSpec) {
			s.ServiceAccountName = "theirs"
			s.Identity = &v1alpha1.Identity{}
		})
		assert.Equal(t, "theirs", resolve.Owned(in).Spec.Identity.ServiceAccounts.Runner)
		assert.Empty(t, in.Spec.Template.Spec.Identity.ServiceAccounts.Runner)
	})
}
