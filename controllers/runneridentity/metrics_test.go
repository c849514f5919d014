// SPDX-License-Identifier: Apache-2.0

package runneridentity_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func TestMetricsNameProviderAndReasonAndNobody(t *testing.T) {
	w := newWorld(t)
	numbers := w.start(t)
	w.newIdentity(t, "somebody")
	w.eventually(t, "somebody", v1alpha1.ConditionReady, "True")

	families, err := numbers.Gather()
	require.NoError(t, err)
	names := map[string]string{}
	for _, f := range families {
		names[f.GetName()] = f.String()
		assert.NotContains(t, f.String(), "somebody")
		assert.NotContains(t, f.String(), role)
	}
	assert.Contains(t, names["runner_identity_logins_total"], "LoggedIn")
	assert.Contains(t, names["runner_identity_exchanges_total"], "Verified")
	assert.Contains(t, names["runner_identity_login_duration_seconds"], w.provider)
	assert.Contains(t, names["runner_identity_login_expiry_timestamp_seconds"], w.provider)
	problems, err := testutil.GatherAndLint(numbers)
	require.NoError(t, err)
	assert.Empty(t, problems)
}
