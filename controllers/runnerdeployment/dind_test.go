// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/podspec"
)

func TestRunnersWithADockerDaemonAreTakenByTheAPIServerAgentAndAll(t *testing.T) {
	w := newWorld(t)
	w.deployment("ci", 2, withIdentity, func(d *v1alpha1.RunnerDeployment) {
		d.Spec.Template.Spec.ContainerMode = v1alpha1.ContainerModeDind
		d.Spec.Template.Spec.DockerMTU = new(int64(1400))
	})
	w.settle("ci")
	assert.Equal(t, v1alpha1.DeliveryWorkVolume, w.identity("ci").Spec.Identity.Delivery)
	withAgent := plan("arn:aws:iam::111122223333:role/ci")
	withAgent.Runner.Agent = &v1alpha1.AgentPlan{
		Image: "runner-identity:1", Config: "{}", Registries: []string{"111122223333.dkr.ecr.eu-west-1.amazonaws.com"}, WorkVolume: true,
		Tokens: []corev1.ServiceAccountTokenProjection{{Path: "agent/exchange", Audience: "sts.amazonaws.com", ExpirationSeconds: new(int64(3600))}},
	}
	w.publish("ci", metav1.ConditionTrue, v1alpha1.ReasonAccountApplied, "", withAgent)
	w.settle("ci")
	w.consistent("ci", 2)
	var names []string
	for _, c := range w.pods("ci")[0].Spec.InitContainers {
		names = append(names, c.Name)
		if c.Name == podspec.DindContainer || c.Name == podspec.AgentContainer {
			require.NotNil(t, c.RestartPolicy, c.Name)
			assert.Equal(t, corev1.ContainerRestartPolicyAlways, *c.RestartPolicy, "a native sidecar, or the pod waits for its end: %s", c.Name)
		}
	}
	assert.Equal(t, []string{"init-dind-externals", podspec.AgentContainer, podspec.DindContainer}, names)
}
