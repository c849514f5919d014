// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func TestThePlanOfTheAgentIsPublishedWithTheCarrierThatItServes(t *testing.T) {
	w := newWorld(t)
	w.newIdentity(t, "ci", func(s *v1alpha1.RunnerIdentitySpec) { s.Identity.Delivery = v1alpha1.DeliveryWorkVolume })
	ri, _ := w.reconcile(t, w.controller(t), "ci")
	require.NotNil(t, ri.Status.Plan)
	agent := ri.Status.Plan.Runner.Agent
	require.NotNil(t, agent)
	assert.Equal(t, []string{host}, agent.Registries)
	assert.True(t, agent.WorkVolume)
	assert.Len(t, agent.Tokens, 2)
	require.NotNil(t, ri.Status.Carrier)
	assert.Equal(t, v1alpha1.DeliveryWorkVolume, ri.Status.Carrier.Name)
	assert.NotEmpty(t, ri.Status.Carrier.Limits)
}
