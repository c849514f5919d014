// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/agent"
	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// cloudy is a provider with all that an agent can have to do with one.
type cloudy struct {
	identity.RegistryLogin
	plan identity.Plan
}

func (cloudy) Name() string { return "cloudy" }

// Plan is the plan for whoever is asked for.
func (c cloudy) Plan(r identity.Request) (identity.Plan, error) {
	p := c.plan
	p.Tokens = nil
	for _, t := range c.plan.Tokens {
		t.For = r.Targets
		p.Tokens = append(p.Tokens, t)
	}
	return p, nil
}

func (cloudy) HomeFiles(identity.Request) ([]identity.File, error) {
	return []identity.File{{Path: ".cloudy", Content: "token=" + identity.Dir + "/t other=/elsewhere/t"}}, nil
}

func cloudyPlan() identity.Plan {
	return identity.Plan{
		Tokens: []identity.Token{
			{Path: identity.Dir + "/t", Audience: "a", Lifetime: time.Hour},
			{Path: "/elsewhere/t", Volume: "theirs", Audience: "b", Lifetime: 10 * time.Minute},
		},
		Files: []identity.File{{Path: identity.Dir + "/f", Content: identity.Dir + "/t /elsewhere/t"}},
		Dirs:  []identity.EmptyDir{{Path: "/cache", Volume: "cache"}},
		Env:   []identity.Env{{Name: "TOKEN", Value: "/elsewhere/t"}, {Name: "CACHE", Value: "/cache"}, {Name: "REGION", Value: "r"}},
		Registries: []identity.Registry{
			{Host: "one.example", For: identity.Both}, {Host: "job.example", For: identity.Job},
		},
		Exchange: identity.Exchange{Audience: "x", Lifetime: 2 * time.Hour},
	}
}

// agentOf resolves an identity of that provider, and is the agent's part.
func agentOf(t *testing.T, plan identity.Plan, asked v1alpha1.Identity) *v1alpha1.AgentPlan {
	t.Helper()
	providers, err := identity.NewSet(cloudy{plan: plan})
	require.NoError(t, err)
	r, err := resolve.Identity(resolve.Input{Providers: providers, Image: "own:1", Identity: &v1alpha1.RunnerIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ci", Name: "website"},
		Spec:       v1alpha1.RunnerIdentitySpec{IdentityProvider: "cloudy", Identity: asked},
	}})
	require.NoError(t, err)
	if r.Job != nil {
		require.Nil(t, r.Job.Agent, "job pods have no docker daemon")
	}
	return r.Runner.Agent
}

func parsed(t *testing.T, p *v1alpha1.AgentPlan) agent.Config {
	t.Helper()
	require.NotNil(t, p)
	c, err := agent.Parse(p.Config)
	require.NoError(t, err)
	return c
}

func TestTheAgentLogsInAsTheRunnerToTheRunnersRegistries(t *testing.T) {
	both := []v1alpha1.IdentityTarget{v1alpha1.TargetRunner, v1alpha1.TargetJob}
	p := agentOf(t, cloudyPlan(), v1alpha1.Identity{Targets: both, Delivery: v1alpha1.DeliveryWorkVolume})
	c := parsed(t, p)
	assert.Equal(t, []string{"one.example"}, c.Hosts)
	assert.Equal(t, c.Hosts, p.Registries)
	assert.Equal(t, "website-runner", c.Request.Exchange(), "whose token the agent has")
	assert.Equal(t, "/var/run/secrets/runner-identity.dev/agent/exchange", c.Token)
	assert.Equal(t, "own:1", p.Image)
	assert.Equal(t, "x", p.Tokens[0].Audience)
	assert.Equal(t, int64(7200), *p.Tokens[0].ExpirationSeconds)
}

func TestTheWorkVolumeCarriesTheJobsPlanToOnePathThatIsRightEverywhere(t *testing.T) {
	p := agentOf(t, cloudyPlan(), v1alpha1.Identity{Delivery: v1alpha1.DeliveryWorkVolume})
	c := parsed(t, p)
	const at = "/github/home/.runner-identity/"
	assert.Equal(t, agent.Job{
		Tokens: []agent.Token{
			{From: "/var/run/secrets/runner-identity.dev/agent/job/0", Path: "t"},
			{From: "/var/run/secrets/runner-identity.dev/agent/job/1", Path: "tokens/1"},
		},
		Files: []agent.File{{Path: "f", Content: at + "t " + at + "tokens/1"}},
		Home:  []agent.File{{Path: ".cloudy", Content: "token=" + at + "t other=" + at + "tokens/1"}},
		Env:   []agent.Variable{{Name: "TOKEN", Value: at + "tokens/1"}, {Name: "REGION", Value: "r"}},
	}, c.Job)
	require.Len(t, p.Tokens, 3)
	assert.Equal(t, []string{"x", "a", "b"}, []string{p.Tokens[0].Audience, p.Tokens[1].Audience, p.Tokens[2].Audience})
	assert.True(t, p.WorkVolume)
}

func TestAnAgentThatCannotLogInCarriesAllTheSame(t *testing.T) {
	none, untradable := cloudyPlan(), cloudyPlan()
	none.Registries = nil
	untradable.Exchange = identity.Exchange{}
	for name, plan := range map[string]identity.Plan{"no registry": none, "no token that could be traded": untradable} {
		t.Run(name, func(t *testing.T) {
			p := agentOf(t, plan, v1alpha1.Identity{Delivery: v1alpha1.DeliveryWorkVolume})
			c := parsed(t, p)
			assert.Empty(t, c.Hosts)
			assert.Empty(t, p.Registries)
			assert.Len(t, p.Tokens, 2, "none for logins")
			assert.NotEmpty(t, c.Job.Env)
		})
	}
}

// A plan of those who have no docker daemon must not change with what only the agent has to know.
func TestThereIsNoAgentWithNothingToDo(t *testing.T) {
	for name, asked := range map[string]v1alpha1.Identity{
		"no docker daemon": {Delivery: v1alpha1.DeliveryAdmission},
		"a runner without an identity, job pods having one": {
			Targets: []v1alpha1.IdentityTarget{v1alpha1.TargetJob}, Delivery: v1alpha1.DeliveryWorkVolume,
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Nil(t, agentOf(t, cloudyPlan(), asked))
		})
	}
}

// ARC #246, #433: with a docker daemon there are no job pods to admit, and the API fills in Admission where nothing is asked for.
func TestWithADockerDaemonTheWorkVolumeIsTheCarrier(t *testing.T) {
	for name, tc := range map[string]struct {
		mode        v1alpha1.ContainerMode
		asked, want v1alpha1.Delivery
	}{
		"dind, nothing asked for":      {v1alpha1.ContainerModeDind, "", v1alpha1.DeliveryWorkVolume},
		"dind, the API's default":      {v1alpha1.ContainerModeDind, v1alpha1.DeliveryAdmission, v1alpha1.DeliveryWorkVolume},
		"dind, another carrier":        {v1alpha1.ContainerModeDind, v1alpha1.DeliveryHookTemplate, v1alpha1.DeliveryWorkVolume},
		"kubernetes keeps admission":   {v1alpha1.ContainerModeKubernetes, v1alpha1.DeliveryAdmission, v1alpha1.DeliveryAdmission},
		"no containers, nothing asked": {v1alpha1.ContainerModeNone, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rd := &v1alpha1.RunnerDeployment{}
			rd.Spec.Template.Spec = v1alpha1.RunnerSpec{IdentityProvider: "cloudy", ContainerMode: tc.mode, Identity: &v1alpha1.Identity{Delivery: tc.asked}}
			assert.Equal(t, tc.want, resolve.Owned(rd).Spec.Identity.Delivery)
		})
	}
}
