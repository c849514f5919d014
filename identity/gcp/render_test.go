// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/podspec"
	"github.com/runner-identity/runner-identity/resolve"
)

// resolved is a RunnerIdentity with its IdentityProvider, as users and admins write them.
func resolved(t *testing.T, c *cloud) resolve.Resolved {
	t.Helper()
	providers, err := identity.NewSet(gcp.New())
	require.NoError(t, err)
	r, err := resolve.Identity(resolve.Input{
		Providers: providers,
		Identity: &v1alpha1.RunnerIdentity{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ci", Name: "build"},
			Spec: v1alpha1.RunnerIdentitySpec{
				IdentityProvider: "google", Images: []string{"gcr.io/acme-ci/app"},
				Identity: v1alpha1.Identity{Targets: []v1alpha1.IdentityTarget{v1alpha1.TargetJob}, GCP: &v1alpha1.GCPIdentity{ServiceAccount: testAccount}},
			},
		},
		Provider: &v1alpha1.IdentityProvider{
			ObjectMeta: metav1.ObjectMeta{Name: "google"},
			Spec: v1alpha1.IdentityProviderSpec{
				Plugin: "gcp", Issuer: testIssuer, AllowedPrincipals: []string{"*@acme-ci.iam.gserviceaccount.com"},
				GCP: &v1alpha1.GCPDefaults{
					GCPIdentity: v1alpha1.GCPIdentity{WorkloadIdentityProvider: testProvider},
					Endpoints:   v1alpha1.GCPEndpoints{STS: c.url, IAMCredentials: c.url},
				},
			},
		},
	})
	require.NoError(t, err)
	return r
}

// startPod makes a container of the job's part of a plan, in the words of a pod: projected volumes, mounts and variables.
func startPod(t *testing.T, pod v1alpha1.PodPlan, token identity.Secret) container {
	t.Helper()
	c := start(t, onGKE(t), identity.Secret{})
	clear(c.env)
	c.env["HOME"] = t.TempDir()
	here := func(s string) string { return strings.ReplaceAll(s, podspec.IdentityDir, c.dir) }
	for _, m := range pod.VolumeMounts {
		if m.Name != podspec.IdentityVolume {
			here = func(s string) string {
				return strings.NewReplacer(podspec.IdentityDir, c.dir, m.MountPath, c.empty(m.Name)).Replace(s)
			}
		}
	}
	for _, v := range pod.Volumes {
		if v.EmptyDir != nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if s := source.ServiceAccountToken; s != nil {
				c.write(filepath.Join(c.dir, s.Path), token.Reveal())
				continue
			}
			for _, item := range source.DownwardAPI.Items {
				key := strings.TrimSuffix(strings.TrimPrefix(item.FieldRef.FieldPath, "metadata.annotations['"), "']")
				require.Contains(t, pod.Annotations, key)
				c.write(filepath.Join(c.dir, item.Path), here(pod.Annotations[key]))
			}
		}
	}
	for _, e := range pod.Env {
		c.env[e.Name] = here(e.Value)
	}
	return c
}

// Between the provider and the pod stand the admin's defaults and the applier. Neither knows Google.
func TestGcloudGetsATokenFromThePodThatTheControllerMakes(t *testing.T) {
	c := newCloud(t)
	r := resolved(t, c)
	require.Equal(t, []string{"gcr.io"}, r.Plan.Hosts())
	pod := startPod(t, *r.Job, c.token(r.Request))
	token, err := pod.run("", "gcloud", "auth", "print-access-token")
	require.NoError(t, err)
	c.pulls(t, r.Request, "oauth2accesstoken", token)
}
