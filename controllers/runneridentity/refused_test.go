// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
)

func TestIdentitiesThatDoNotResolve(t *testing.T) {
	w := newWorld(t)
	restricted := w.newProvider(t, w.namespace+"-restricted", w.url, func(s *v1alpha1.IdentityProviderSpec) {
		s.AllowedPrincipals = []string{"arn:aws:iam::" + account + ":role/other-*"}
	})
	elsewhere := w.newProvider(t, w.namespace+"-elsewhere", w.url, func(s *v1alpha1.IdentityProviderSpec) {
		s.AllowedNamespaces = &metav1.LabelSelector{MatchLabels: map[string]string{"ci": "yes"}}
	})
	tests := map[string]struct {
		change func(*v1alpha1.RunnerIdentitySpec)
		reason string
		says   []string
	}{
		"unknown provider: the message lists what the build has": {
			change: func(s *v1alpha1.RunnerIdentitySpec) { s.IdentityProvider = "azure" },
			reason: "ProviderNotFound", says: []string{`"azure"`, "aws"},
		},
		"role outside allowedPrincipals": {
			change: func(s *v1alpha1.RunnerIdentitySpec) { s.IdentityProvider = restricted },
			reason: "NotAllowed", says: []string{role, "role/other-*"},
		},
		"namespace not allowed": {
			change: func(s *v1alpha1.RunnerIdentitySpec) { s.IdentityProvider = elsewhere },
			reason: "NotAllowed", says: []string{w.namespace, "ci=yes"},
		},
		"region of another partition: names field, value and what would be right": {
			change: func(s *v1alpha1.RunnerIdentitySpec) { s.Identity.AWS.Region = "cn-north-1" },
			reason: "InvalidIdentity", says: []string{"region", "cn-north-1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := w.controller(t)
			ri := w.newIdentity(t, "ci", test.change)
			ri, result := w.reconcile(t, c, ri.Name)
			t.Cleanup(func() { _ = w.Delete(cleanup(t), ri) })
			for _, kind := range []string{v1alpha1.ConditionServiceAccountReady, v1alpha1.ConditionReady} {
				assert.Contains(t, condition(ri, kind), "False "+test.reason)
				for _, part := range test.says {
					assert.Contains(t, condition(ri, kind), part)
				}
			}
			assert.Nil(t, ri.Status.Plan)
			assert.Zero(t, result.RequeueAfter, "no retry helps")
			assert.True(t, apierrors.IsNotFound(w.Get(t.Context(), w.key("ci-runner"), &corev1.ServiceAccount{})))
		})
	}
	assert.Zero(t, w.cloud.Calls(simaws.STS, "AssumeRoleWithWebIdentity"))
}

func TestASpecThatBecomesInvalidKeepsTheLastWholePlan(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci")
	good, _ := w.reconcile(t, c, "ci")

	ri := w.identity(t, "ci")
	ri.Spec.IdentityProvider = "azure"
	require.NoError(t, w.Update(t.Context(), ri))
	bad, _ := w.reconcile(t, c, "ci")
	assert.Equal(t, good.Status.Plan, bad.Status.Plan)
	assert.Contains(t, condition(bad, v1alpha1.ConditionServiceAccountReady), "False ProviderNotFound", "nobody starts from it")
	w.requireLoggedIn(t, "ci-registry")
}

func TestWhatTheAdminNoLongerAllowsIsTakenAwayAtOnce(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newAccount(t, "mine", nil)
	w.newIdentity(t, "ci", annotate, runAs("mine"))
	w.reconcile(t, c, "ci")
	require.Equal(t, role, w.account(t, "mine").Annotations[roleKey])

	p := &v1alpha1.IdentityProvider{}
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: w.provider}, p))
	p.Spec.AllowedPrincipals = []string{"arn:aws:iam::" + account + ":role/other"}
	require.NoError(t, w.Update(t.Context(), p))
	ri, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "False NotAllowed")
	assert.Contains(t, condition(ri, v1alpha1.ConditionRegistryLoginReady), "Unknown NotAllowed")
	assert.Nil(t, ri.Status.Plan)
	assert.Empty(t, ri.Status.Principal)
	assert.Empty(t, ri.Finalizers)
	assert.Empty(t, w.account(t, "mine").Annotations)
	assert.True(t, apierrors.IsNotFound(w.Get(t.Context(), w.key("ci-registry"), &corev1.Secret{})))

	t.Log("and given again")
	p.Spec.AllowedPrincipals = nil
	require.NoError(t, w.Update(t.Context(), p))
	ri, _ = w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "True")
}

func TestPodIdentityNeedsNoExchange(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci", func(s *v1alpha1.RunnerIdentitySpec) {
		s.Identity.AWS = &v1alpha1.AWSIdentity{Mode: v1alpha1.AWSPodIdentity}
	})
	ri, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionPrincipalVerified), "Unknown NotNeeded: pods get their credentials from an agent")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "True")
	assert.Empty(t, w.tokens.issued)
}

func TestThrottlingIsMetWithBackOff(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci")
	require.NoError(t, w.cloud.Inject(simaws.Fault{Kind: simaws.Throttle, Service: simaws.STS}))
	ri, first := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "False CloudUnreachable")
	assert.LessOrEqual(t, first.RequeueAfter, 5*time.Second)

	t.Log("events in between cause no calls")
	calls := w.cloud.Calls(simaws.STS, "AssumeRoleWithWebIdentity")
	for range 20 {
		w.reconcile(t, c, "ci")
	}
	assert.Equal(t, calls, w.cloud.Calls(simaws.STS, "AssumeRoleWithWebIdentity"))

	t.Log("the pause doubles")
	w.clock.Step(5 * time.Second)
	_, second := w.reconcile(t, c, "ci")
	assert.Greater(t, second.RequeueAfter, 8*time.Second)
	assert.LessOrEqual(t, second.RequeueAfter, 10*time.Second)

	w.cloud.ClearFaults()
	w.clock.Step(10 * time.Second)
	ri, _ = w.reconcile(t, c, "ci")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "True")
}

func TestAHostThatFailsDoesNotLoseTheOthers(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci", func(s *v1alpha1.RunnerIdentitySpec) { s.Identity.Registries = []string{host, "public.ecr.aws"} })
	ri, _ := w.reconcile(t, c, "ci")
	w.requireLoggedIn(t, "ci-registry")
	require.Len(t, ri.Status.Registries, 2)
	assert.Equal(t, host, ri.Status.Registries[0].Host)
	assert.Empty(t, ri.Status.Registries[0].Error)
	assert.NotEmpty(t, ri.Status.Registries[1].Error, "the role has no right to ECR Public")
	assert.Contains(t, condition(ri, v1alpha1.ConditionRegistryLoginReady), "False IdentityDenied: public.ecr.aws: ")
	assert.NotNil(t, ri.Status.Plan)
}

func TestAProvidersNewEndpointIsAskedAtOnce(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci")
	good, _ := w.reconcile(t, c, "ci")

	p := &v1alpha1.IdentityProvider{}
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: w.provider}, p))
	p.Spec.AWS.Endpoints.STS = "http://127.0.0.1:1"
	require.NoError(t, w.Update(t.Context(), p))
	bad, _ := w.reconcile(t, c, "ci")
	assert.Equal(t, good.Status.PlanHash, bad.Status.PlanHash)
	assert.Contains(t, condition(bad, v1alpha1.ConditionPrincipalVerified), "False CloudUnreachable")
}

func TestAnAnswerThatComesLateIsPickedUp(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	c.CallWait = time.Nanosecond
	w.newIdentity(t, "ci")
	ri, result := w.reconcile(t, c, "ci")
	require.Contains(t, condition(ri, v1alpha1.ConditionPrincipalVerified), "Unknown Progressing")
	assert.Contains(t, condition(ri, v1alpha1.ConditionRegistryLoginReady), "Unknown Progressing")
	assert.Contains(t, condition(ri, v1alpha1.ConditionReady), "Unknown Progressing")
	assert.NotNil(t, ri.Status.Plan, "pods need not wait")
	assert.LessOrEqual(t, result.RequeueAfter, time.Second)
	require.Eventually(t, func() bool {
		ri, _ := w.reconcile(t, c, "ci")
		return strings.HasPrefix(condition(ri, v1alpha1.ConditionReady), "True")
	}, soon, often)
	w.requireLoggedIn(t, "ci-registry")
}
