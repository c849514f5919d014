// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/aws"
	"github.com/runner-identity/runner-identity/identity/gcp"
	"github.com/runner-identity/runner-identity/podspec"
)

// settings are a provider's, as an admin and a user write them.
type settings map[string]any

// The clouds' settings. AWS's is a chain: it is the one that has a file beside the token.
var (
	awsChain = settings{
		"roleARN": "arn:aws:iam::111122223333:role/ci", "region": "eu-west-1", "chain": []string{"arn:aws:iam::444455556666:role/deploy"},
	}
	awsRole       = settings{"roleARN": "arn:aws:iam::111122223333:role/ci", "region": "eu-west-1", "tokenLifetime": "10m"}
	gcpFederation = settings{
		"serviceAccount":           "ci@acme-ci.iam.gserviceaccount.com",
		"workloadIdentityProvider": "projects/123456789012/locations/global/workloadIdentityPools/ci/providers/cluster",
		"tokenLifetime":            "10m",
	}
)

// A cloud is a provider's plan for runners, and where its files are in pods.
type cloud struct {
	name          string
	audience      string
	plan          v1alpha1.PodPlan
	token, config string
	dirs          []string
}

func newCloud(t *testing.T, name string, provider identity.Provider, s settings) cloud {
	t.Helper()
	raw, err := json.Marshal(s)
	require.NoError(t, err)
	plan, err := provider.Plan(identity.Request{
		Namespace: "ci", Name: "website", Issuer: "https://oidc.example.com", Settings: raw,
		Accounts: identity.Accounts{Runner: account, Job: "website-job"}, Targets: identity.Runner,
	})
	require.NoError(t, err)
	plan = plan.At(podspec.IdentityDir)
	require.Len(t, plan.Tokens, 1)
	token := plan.Tokens[0]
	c := cloud{name: name, audience: token.Audience, plan: podspec.Of(plan, identity.Runner, account, nil), token: token.Path}
	for _, f := range plan.Files {
		c.config = f.Path
	}
	for _, d := range plan.Dirs {
		c.dirs = append(c.dirs, d.Path)
	}
	return c
}

func newAWS(t *testing.T, s settings) cloud { t.Helper(); return newCloud(t, "aws", aws.New(), s) }

func newGCP(t *testing.T) cloud { t.Helper(); return newCloud(t, "gcp", gcp.New(), gcpFederation) }

// paths are all that the plan brings into a pod.
func (c cloud) paths() []string { return append([]string{c.token, c.config}, c.dirs...) }

// runnerPod is what the controller makes of a template. The sidecars that are named get the runner's mounts, as if the template
// gave them.
func (c cloud) runnerPod(t *testing.T, b bed, name string, spec v1alpha1.RunnerSpec, sidecars ...string) podspec.Object {
	t.Helper()
	pod, err := podspec.RunnerPod(podspec.Runner{
		Namespace: b.namespace, Name: name, Deployment: "website", Plan: &c.plan, Template: v1alpha1.RunnerTemplate{Spec: spec},
	})
	require.NoError(t, err)
	pod, conflicts, err := podspec.Apply(pod, c.plan, sidecars...)
	require.NoError(t, err)
	require.Empty(t, conflicts)
	return pod
}

// probing is a container that runs the probe.
func probing(name, imageUser string, args ...string) corev1.Container {
	return corev1.Container{Name: name, Image: probeImage(imageUser), Command: []string{"/" + path.Base(probeProgram)}, Args: args}
}
