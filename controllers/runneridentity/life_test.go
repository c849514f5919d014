// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	simaws "github.com/runner-identity/runner-identity/testbed/aws"
)

// login returns the login of a registry Secret, as a kubelet reads it.
func login(t *testing.T, s *corev1.Secret, host string) (user, password string) {
	t.Helper()
	require.Equal(t, corev1.SecretTypeDockerConfigJson, s.Type)
	var config struct {
		Auths map[string]struct{ Username, Password string }
	}
	require.NoError(t, json.Unmarshal(s.Data[corev1.DockerConfigJsonKey], &config))
	require.Contains(t, config.Auths, host)
	return config.Auths[host].Username, config.Auths[host].Password
}

func (w *world) requireLoggedIn(t *testing.T, secret string) (password string) {
	t.Helper()
	user, password := login(t, w.secret(t, secret), host)
	_, _, err := w.cloud.Verify(user, password, host)
	require.NoError(t, err, "the registry takes the login")
	return password
}

func TestLifeOfAnIdentity(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci")

	ri, result := w.reconcile(t, c, "ci")
	require.Equal(t, "True Ready: pods get this identity", condition(ri, v1alpha1.ConditionReady))
	assert.Contains(t, condition(ri, v1alpha1.ConditionPrincipalVerified), "checked: token, issuer, sts, registry")
	assert.Equal(t, role, ri.Status.Principal)
	assert.Equal(t, "ci-runner", ri.Status.ServiceAccounts.Runner)
	assert.Equal(t, "ci-registry", ri.Status.RegistrySecret)
	assert.Equal(t, ri.Generation, ri.Status.ObservedGeneration)
	require.NotNil(t, ri.Status.Plan.Runner)
	assert.Equal(t, "ci-runner", ri.Status.Plan.Runner.ServiceAccountName)
	assert.NotEmpty(t, ri.Status.PlanHash)
	assert.Empty(t, ri.Finalizers, "an identity that owns all it made has nothing to undo")
	assert.LessOrEqual(t, result.RequeueAfter, time.Hour, "comes back to verify")
	assert.Len(t, w.events.take("Normal"), 3)

	runner := w.account(t, "ci-runner")
	assert.True(t, metav1.IsControlledBy(runner, ri))
	assert.Equal(t, []string{"ci-registry"}, pullSecrets(runner))
	assert.True(t, metav1.IsControlledBy(w.secret(t, "ci-registry"), ri))
	first := w.requireLoggedIn(t, "ci-registry")

	t.Log("nothing to do: nothing written, nobody asked")
	calls := w.cloud.Calls(simaws.ECR, "GetAuthorizationToken")
	again, _ := w.reconcile(t, c, "ci")
	assert.Equal(t, ri.ResourceVersion, again.ResourceVersion)
	assert.Equal(t, calls, w.cloud.Calls(simaws.ECR, "GetAuthorizationToken"))

	t.Log("renewed before half of its 12 hours")
	renew := ri.Status.Registries[0].RenewAt.Sub(w.clock.Now())
	assert.LessOrEqual(t, renew, 6*time.Hour)
	assert.Greater(t, renew, 5*time.Hour)
	w.clock.Step(6 * time.Hour)
	renewed, _ := w.reconcile(t, c, "ci")
	second := w.requireLoggedIn(t, "ci-registry")
	assert.NotEqual(t, first, second)
	assert.Equal(t, 6*time.Hour, renewed.Status.LoginExpiresAt.Sub(ri.Status.LoginExpiresAt.Time).Round(time.Minute))
	assert.Empty(t, w.events.take(""), "a renewal as planned is no news")

	t.Log("the cloud is down: the old login stays")
	require.NoError(t, w.cloud.Inject(simaws.Fault{Kind: simaws.Broken}))
	w.clock.Step(6 * time.Hour)
	down, result := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(down, v1alpha1.ConditionRegistryLoginReady), "False CloudUnreachable")
	assert.Contains(t, condition(down, v1alpha1.ConditionReady), "False CloudUnreachable")
	assert.NotEmpty(t, down.Status.Registries[0].Error)
	assert.Equal(t, second, w.requireLoggedIn(t, "ci-registry"))
	assert.NotNil(t, down.Status.Plan, "pods go on with what they were given")
	assert.LessOrEqual(t, result.RequeueAfter, 5*time.Second)
	assert.NotEmpty(t, w.events.take("Warning CloudUnreachable LogIn"))

	t.Log("and back")
	w.cloud.ClearFaults()
	w.clock.Step(10 * time.Second)
	back, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(back, v1alpha1.ConditionReady), "True")
	assert.Empty(t, back.Status.Registries[0].Error)
	assert.NotEqual(t, second, w.requireLoggedIn(t, "ci-registry"))

	t.Log("down for more than 12 hours: an expired login helps nobody")
	require.NoError(t, w.cloud.Inject(simaws.Fault{Kind: simaws.Broken}))
	w.clock.Step(13 * time.Hour)
	expired, _ := w.reconcile(t, c, "ci")
	assert.Nil(t, expired.Status.LoginExpiresAt)
	assert.True(t, apierrors.IsNotFound(w.Get(t.Context(), w.key("ci-registry"), &corev1.Secret{})))
}

func TestARestartDoesNotLogInAgain(t *testing.T) {
	w := newWorld(t)
	w.newIdentity(t, "ci")
	before, _ := w.reconcile(t, w.controller(t), "ci")
	w.cloud.Reset()

	after, _ := w.reconcile(t, w.controller(t), "ci")
	assert.Equal(t, before.ResourceVersion, after.ResourceVersion)
	assert.Zero(t, w.cloud.Calls(simaws.ECR, "GetAuthorizationToken"))
	assert.Zero(t, w.cloud.Calls(simaws.STS, "AssumeRoleWithWebIdentity"), "nor is the principal verified again")

	t.Log("nor when it was killed after the Secret was written, before status was")
	lost := after.DeepCopy()
	lost.Status = v1alpha1.RunnerIdentityStatus{}
	require.NoError(t, w.Status().Update(t.Context(), lost))
	c := w.controller(t)
	w.cloud.Reset()
	again, _ := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(again, v1alpha1.ConditionReady), "True")
	assert.Equal(t, before.Status.LoginExpiresAt, again.Status.LoginExpiresAt)
	assert.Equal(t, 1, w.cloud.Calls(simaws.ECR, "GetAuthorizationToken"), "the probe's own call, no login")
}

func TestARoleThatChangesGetsLoginsOfItsOwn(t *testing.T) {
	w := newWorld(t)
	c := w.controller(t)
	w.newIdentity(t, "ci")
	w.reconcile(t, c, "ci")

	ri := w.identity(t, "ci")
	ri.Spec.Identity.AWS.RoleARN = lost
	require.NoError(t, w.Update(t.Context(), ri))
	after, result := w.reconcile(t, c, "ci")
	assert.Contains(t, condition(after, v1alpha1.ConditionReady), "False IdentityDenied")
	assert.Equal(t, lost, after.Status.Principal)
	assert.Empty(t, after.Status.RegistrySecret)
	assert.True(t, apierrors.IsNotFound(w.Get(t.Context(), w.key("ci-registry"), &corev1.Secret{})), "no login of a role that is no longer asked for")
	assert.Greater(t, result.RequeueAfter, 30*time.Second, "retried slowly: the cloud has to change")
}
