// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	githubsim "github.com/runner-identity/runner-identity/testbed/github"
)

// A disturbance is what can go wrong between the controller and GitHub.
type disturbance struct {
	spoil       func(w *world)
	wantReason  string
	wantMessage string
	retry       time.Duration
	mend        func(w *world)
}

func disturbances() map[string]disturbance {
	return map[string]disturbance{
		"the Secret does not exist": {
			spoil: func(w *world) {
				require.NoError(w, w.user.Delete(w.Context(), w.credentials("github")))
			},
			wantReason: v1alpha1.ReasonSecretNotFound, wantMessage: "/github ", retry: 15 * time.Second,
			mend: func(w *world) { w.create(w.credentials("github")) },
		},
		"the Secret has no credentials": {
			spoil: func(w *world) {
				require.NoError(w, w.user.Update(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "github"}}))
			},
			wantReason: v1alpha1.ReasonSecretInvalid, wantMessage: "github_token", retry: 15 * time.Second,
			mend: func(w *world) { require.NoError(w, w.user.Update(w.Context(), w.credentials("github"))) },
		},
		"the token is refused": {
			spoil: func(w *world) {
				bad := w.credentials("github")
				bad.StringData["github_token"] = "ghp_revoked"
				require.NoError(w, w.user.Update(w.Context(), bad))
			},
			wantReason: v1alpha1.ReasonGitHubDenied, wantMessage: "401", retry: time.Minute,
			mend: func(w *world) { require.NoError(w, w.user.Update(w.Context(), w.credentials("github"))) },
		},
		"GitHub is down": {
			spoil: func(w *world) {
				require.NoError(w, w.github.Fault(githubsim.Fault{Kind: githubsim.Down}))
			},
			wantReason: v1alpha1.ReasonGitHubDown, wantMessage: "register runner", retry: 15 * time.Second,
			mend: func(w *world) { w.github.ClearFaults() },
		},
		"GitHub never answers": {
			spoil: func(w *world) {
				require.NoError(w, w.github.Fault(githubsim.Fault{Kind: githubsim.Slow}))
			},
			wantReason: v1alpha1.ReasonGitHubDown, wantMessage: "register runner", retry: 15 * time.Second,
			mend: func(w *world) { w.github.ClearFaults() },
		},
		"the rate limit is used up": {
			spoil: func(w *world) {
				require.NoError(w, w.github.Fault(githubsim.Fault{Kind: githubsim.RateLimit, Wait: 10 * time.Minute}))
			},
			wantReason: v1alpha1.ReasonGitHubLimited, wantMessage: "until 20", retry: 10 * time.Minute,
			mend: func(w *world) { w.github.ClearFaults() },
		},
	}
}

func TestGitHubTroubleIsReportedAndNothingElseStops(t *testing.T) {
	for name, c := range disturbances() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deployment("ci", 1)
			w.settle("ci")
			before := w.podNames("ci")
			w.runs(before...)
			c.spoil(w)
			w.step(2 * time.Minute) // the Secret is looked at again
			w.scale("ci", 3)
			result := w.settle("ci")

			registered := w.condition("ci", v1alpha1.ConditionRunnersRegistered)
			assert.Equal(t, metav1.ConditionFalse, registered.Status)
			assert.Equal(t, c.wantReason, registered.Reason)
			assert.Contains(t, registered.Message, c.wantMessage)
			assert.NotContains(t, registered.Message, "ghp_")
			assert.Equal(t, c.wantReason, w.condition("ci", v1alpha1.ConditionReady).Reason)
			assert.Contains(t, w.told(), c.wantReason)
			assert.InDelta(t, c.retry.Seconds(), result.RequeueAfter.Seconds(), 2)
			assert.Equal(t, before, w.podNames("ci"), "the runner that there was goes on, and no other has a pod")
			assert.LessOrEqual(t, len(w.records("ci")), 2, "what fails for all was tried for one")

			calls := len(w.line.sent())
			w.settle("ci")
			assert.Len(t, w.line.sent(), calls, "nothing is tried before its time")

			c.mend(w)
			w.step(c.retry + time.Second)
			w.settle("ci")
			w.consistent("ci", 3)
			assert.Equal(t, metav1.ConditionTrue, w.condition("ci", v1alpha1.ConditionRunnersRegistered).Status)
		})
	}
}

func TestOtherDeploymentsGoOnWhenOneHasNoCredentials(t *testing.T) {
	w := newWorld(t)
	w.deployment("broken", 1, func(d *v1alpha1.RunnerDeployment) {
		d.Spec.Template.Spec.GitHubAPICredentialsFrom.SecretRef.Name = "missing"
	})
	w.deployment("ci", 1)
	w.settle("broken")
	w.settle("ci")
	assert.Equal(t, v1alpha1.ReasonSecretNotFound, w.condition("broken", v1alpha1.ConditionReady).Reason)
	assert.Empty(t, w.records("broken"))
	w.consistent("ci", 1)
}

func TestARateLimitStopsAllDeploymentsOfTheSameCredentials(t *testing.T) {
	w := newWorld(t)
	w.deployment("one", 1)
	w.deployment("two", 1)
	require.NoError(t, w.github.Fault(githubsim.Fault{Kind: githubsim.RateLimit, Wait: 10 * time.Minute}))
	w.settle("one")
	calls := w.github.Calls()
	w.settle("two")
	assert.Equal(t, calls, w.github.Calls(), "two knows without asking")
	assert.Equal(t, v1alpha1.ReasonGitHubLimited, w.condition("two", v1alpha1.ConditionReady).Reason)
	assert.Empty(t, w.records("two"))

	w.github.ClearFaults()
	w.step(10*time.Minute + time.Second)
	w.settle("one")
	w.settle("two")
	assert.Len(t, w.registered(), 2)
}

func TestWithoutAnyCredentialsTheConditionSaysWhereToNameThem(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1, func(d *v1alpha1.RunnerDeployment) { d.Spec.Template.Spec.GitHubAPICredentialsFrom = nil })
	w.settle("ci")
	assert.Contains(t, w.condition("ci", v1alpha1.ConditionReady).Message, "githubAPICredentialsFrom.secretRef")
}

func TestARegistrationWhoseAnswerWasLostIsMadeAnewUnderTheSameName(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.github.Fault(githubsim.Fault{Kind: githubsim.Lost, Route: githubsim.RouteRegister, Times: 1}))
	w.deployment("ci", 1)
	w.settle("ci")
	names := w.records("ci")
	require.Equal(t, names, w.registered(), "GitHub took it, nobody knows its JIT config")
	require.Empty(t, w.podNames("ci"))
	w.step(time.Minute)
	w.settle("ci")
	w.consistent("ci", 1)
	assert.Equal(t, names, w.podNames("ci"))
}

func TestANameThatABusyRunnerOfOthersHasIsLeftToIt(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.github.Fault(githubsim.Fault{Kind: githubsim.Lost, Route: githubsim.RouteRegister, Times: 1}))
	w.deployment("ci", 1)
	w.settle("ci")
	taken := w.records("ci")[0]
	w.busy(taken)
	w.step(time.Minute)
	w.settle("ci")
	assert.Len(t, w.podNames("ci"), 1)
	assert.Equal(t, w.podNames("ci"), w.records("ci"))
	assert.NotContains(t, w.podNames("ci"), taken)
	assert.Contains(t, w.registered(), taken)
}

func TestAPodOfOthersWithTheRunnersNameIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.github.Fault(githubsim.Fault{Kind: githubsim.Down, Times: 1}))
	w.deployment("ci", 1)
	w.settle("ci")
	taken := w.records("ci")[0]
	w.create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: taken},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "other", Image: "other.test/other:1"}}},
	})
	w.step(time.Minute)
	w.settle("ci")
	w.consistent("ci", 1)
	assert.NotContains(t, w.podNames("ci"), taken)
	require.NoError(t, w.user.Get(t.Context(), w.key(taken), &corev1.Pod{}))
}

func TestTheSecretIsReadOnlyWhenThereIsSomethingToAsk(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 1)
	w.settle("ci")
	require.NoError(t, w.user.Delete(t.Context(), w.credentials("github")))
	w.step(10 * time.Minute)
	w.settle("ci")
	assert.Equal(t, metav1.ConditionTrue, w.condition("ci", v1alpha1.ConditionRunnersRegistered).Status,
		"nothing was to be done, so nobody looked")
}
