// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

// podIdentityPlan is a plan of the shape that the AWS provider makes with mode PodIdentity.
func podIdentityPlan() identity.Plan {
	const dir, file = "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount", "eks-pod-identity-token"
	return identity.Plan{
		Tokens: []identity.Token{{
			Path: dir + "/" + file, Volume: file, Audience: "pods.eks.amazonaws.com", Lifetime: 24 * time.Hour, For: identity.Both,
		}},
		Env: []identity.Env{
			{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://169.254.170.23/v1/credentials", For: identity.Both},
			{Name: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Value: dir + "/" + file, For: identity.Both},
			{Name: "AWS_REGION", Value: "eu-west-1", For: identity.Both},
			{Name: "AWS_DEFAULT_REGION", Value: "eu-west-1", For: identity.Both},
			{Name: "AWS_STS_REGIONAL_ENDPOINTS", Value: "regional", For: identity.Both},
		},
	}
}

type eksCase struct {
	name       string
	pod        string
	containers []string
	// wins are the fields and keys of the pod that differ from the plan.
	wins []string
}

var both = []string{"init", "sidecar", "runner"}

// eksCases are pods of the shapes that EKS's webhook is tested with, in the order of its test data.
func eksCases() []eksCase {
	return []eksCase{
		{name: "01 a pod without volumes", pod: `{spec: {containers: [{name: runner, image: a}]}}`},
		{name: "02 another volume is kept", pod: `{spec: {containers: [{name: runner, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, emptyDir: {}}]}}`},
		{name: "03 no region of its own", pod: `{spec: {containers: [{name: runner, env: [{name: A, value: a}]}]}}`},
		{
			name: "04 a region of its own wins", pod: `{spec: {containers: [{name: runner, env: [{name: AWS_REGION, value: paris}]}]}}`,
			wins: []string{"env AWS_REGION"},
		},
		{name: "05 no STS setting", pod: `{spec: {containers: [{name: runner, env: []}], volumes: []}}`},
		{
			name: "06 region and STS setting of its own win",
			pod:  `{spec: {containers: [{name: runner, env: [{name: AWS_REGION, value: paris}, {name: AWS_STS_REGIONAL_ENDPOINTS, value: legacy}]}]}}`,
			wins: []string{"env AWS_REGION", "env AWS_STS_REGIONAL_ENDPOINTS"},
		},
		{name: "07 the STS setting that we want", pod: `{spec: {containers: [{name: runner, env: [{name: AWS_STS_REGIONAL_ENDPOINTS, value: regional}]}]}}`},
		{
			name: "08 everything set by hand is no reason to leave out the mount (pod-identity-webhook#82)",
			pod:  `{spec: {containers: [{name: runner, env: [{name: AWS_REGION, value: paris}, {name: AWS_STS_REGIONAL_ENDPOINTS, value: legacy}, {name: AWS_ROLE_ARN, value: theirs}]}]}}`,
			wins: []string{"env AWS_ROLE_ARN", "env AWS_REGION", "env AWS_STS_REGIONAL_ENDPOINTS"},
		},
		{name: "09 a token lifetime of the pod's", pod: `{metadata: {annotations: {eks.amazonaws.com/token-expiration: "3600"}}, spec: {containers: [{name: runner}]}}`},
		{
			name: "10 a token lifetime in a volume that is otherwise ours",
			pod:  `{spec: {containers: [{name: runner}], volumes: [{name: aws-iam-token, projected: {defaultMode: 420, sources: [{serviceAccountToken: {audience: sts.amazonaws.com, expirationSeconds: 600, path: token}}]}}]}}`,
		},
		{
			name: "11 a directory of the node with our volume's name is not mounted as the token",
			pod:  `{spec: {containers: [{name: runner, volumeMounts: [{name: aws-iam-token, mountPath: /elsewhere}]}], volumes: [{name: aws-iam-token, hostPath: {path: /data}}]}}`,
			wins: []string{"spec.volumes aws-iam-token"},
		},
		{
			name: "12 sidecars get nothing, and a role of its own wins",
			pod:  `{metadata: {annotations: {eks.amazonaws.com/skip-containers: sidecar}}, spec: {containers: [{name: sidecar}, {name: runner, env: [{name: AWS_ROLE_ARN, value: already-defined}]}]}}`,
			wins: []string{"env AWS_ROLE_ARN"},
		},
		{name: "13 an init container of the same name", pod: `{spec: {initContainers: [{name: runner}], containers: [{name: runner}]}}`},
		{
			name: "14 a native sidecar keeps its restart policy (pod-identity-webhook#208)", containers: both,
			pod: `{spec: {initContainers: [{name: init}, {name: sidecar, restartPolicy: Always}], containers: [{name: runner}]}}`,
		},
		{name: "15 a gRPC probe survives", pod: `{spec: {containers: [{name: runner, readinessProbe: {grpc: {port: 9000, service: ""}}}]}}`},
		{name: "16 a seccomp profile survives", pod: `{spec: {securityContext: {seccompProfile: {type: RuntimeDefault}}, containers: [{name: runner, securityContext: {seccompProfile: {type: RuntimeDefault}}}]}}`},
		{
			name: "17 Windows", pod: `{spec: {nodeSelector: {kubernetes.io/os: windows}, containers: [{name: runner}]}}`,
			wins: []string{"spec.nodeSelector kubernetes.io/os"},
		},
		{
			name: "18 Windows by the old label", pod: `{spec: {nodeSelector: {beta.kubernetes.io/os: windows}, containers: [{name: runner}]}}`,
			wins: []string{"spec.nodeSelector beta.kubernetes.io/os"},
		},
	}
}

// podIdentityCases are the same for EKS Pod Identity.
func podIdentityCases() []eksCase {
	return []eksCase{
		{name: "19 Pod Identity: a pod without volumes", pod: `{spec: {containers: [{name: runner}]}}`},
		{name: "20 Pod Identity: another volume is kept", pod: `{spec: {containers: [{name: runner}], volumes: [{name: v, emptyDir: {}}]}}`},
		{name: "21 Pod Identity: a role in the pod does not matter", pod: `{spec: {containers: [{name: runner, env: [{name: AWS_ROLE_ARN, value: theirs}]}]}}`},
		{name: "22 Pod Identity: neither region nor STS setting", pod: `{spec: {containers: [{name: runner, env: [{name: A, value: a}]}]}}`},
		{name: "23 Pod Identity: sidecars get nothing", pod: `{metadata: {annotations: {eks.amazonaws.com/skip-containers: sidecar}}, spec: {containers: [{name: sidecar}, {name: runner}]}}`},
		{
			name: "24 Pod Identity: a directory of the node with our volume's name is not mounted as the token",
			pod:  `{spec: {containers: [{name: runner, volumeMounts: [{name: eks-pod-identity-token, mountPath: /elsewhere}]}], volumes: [{name: eks-pod-identity-token, hostPath: {path: /data}}]}}`,
			wins: []string{"spec.volumes eks-pod-identity-token"},
		},
	}
}

func TestPodsOfTheEKSWebhook(t *testing.T) {
	run := func(plan identity.Plan, webhook eksWebhook, cases []eksCase) {
		for _, tc := range cases {
			t.Run(tc.name, func(t *testing.T) { testWithEKSWebhook(t, tc, plan, webhook) })
		}
	}
	run(awsPlan(), eksWebIdentity("arn:aws:iam::111122223333:role/ci", "eu-west-1"), eksCases())
	run(podIdentityPlan(), eksPodIdentity("eu-west-1"), podIdentityCases())
}

// testWithEKSWebhook applies the plan alone, before and after the webhook: it comes to the same, and nothing is there twice.
func testWithEKSWebhook(t *testing.T, tc eksCase, plan identity.Plan, webhook eksWebhook) {
	t.Helper()
	if tc.containers == nil {
		tc.containers = []string{podspec.RunnerContainer}
	}
	podPlan, pod := podspec.Of(plan, identity.Runner, "website-runner", nil), parse[podspec.Object](t, tc.pod)

	alone, conflicts := apply(t, pod, podPlan, tc.containers...)
	goldenPod(t, "eks/"+fileName(tc.name), alone, conflicts)
	assert.Equal(t, tc.wins, keys(conflicts))

	late, conflicts := apply(t, webhook.mutate(t, pod), podPlan, tc.containers...)
	assert.Equal(t, tc.wins, keys(conflicts), "what the webhook did is not a conflict")

	for order, mutated := range map[string]podspec.Object{"before": webhook.mutate(t, alone), "after": late} {
		assertNothingTwice(t, mutated)
		if len(tc.wins) == 0 {
			assert.Equal(t, values(typed(t, alone)), values(typed(t, mutated)), "applied %s the webhook", order)
		}
	}
}

// keys are the fields and keys of conflicts.
func keys(conflicts []podspec.Conflict) []string {
	var keys []string
	for _, c := range conflicts {
		keys = append(keys, c.Field+" "+c.Key)
	}
	return keys
}

// values are the variables and mounts of the runner container, whatever their order.
func values(pod corev1.Pod) map[string]string {
	values := map[string]string{}
	for _, c := range pod.Spec.Containers {
		if c.Name != podspec.RunnerContainer {
			continue
		}
		for _, e := range c.Env {
			values[e.Name] = e.Value
		}
		for _, m := range c.VolumeMounts {
			values[m.MountPath] = m.Name
		}
	}
	return values
}

func assertNothingTwice(t testing.TB, raw podspec.Object) {
	t.Helper()
	seen := map[string]bool{}
	once := func(key string) {
		assert.False(t, seen[key], "%s is there twice", key)
		seen[key] = true
	}
	pod := typed(t, raw)
	for _, v := range pod.Spec.Volumes {
		once("volume " + v.Name)
	}
	for list, containers := range map[string][]corev1.Container{"init": pod.Spec.InitContainers, "": pod.Spec.Containers} {
		for _, c := range containers {
			for _, e := range c.Env {
				once(list + " container " + c.Name + " variable " + e.Name)
			}
			for _, m := range c.VolumeMounts {
				once(list + " container " + c.Name + " mount " + m.MountPath)
			}
		}
	}
}

func TestAVariableOfTheTokenAloneKeepsTheWebhooksRoleOut(t *testing.T) {
	pod := parse[podspec.Object](t, `{spec: {containers: [{name: runner, env: [{name: AWS_WEB_IDENTITY_TOKEN_FILE, value: /theirs}]}]}}`)
	got, conflicts := apply(t, pod, awsPodPlan(), podspec.RunnerContainer)
	assert.Equal(t, []string{"env AWS_WEB_IDENTITY_TOKEN_FILE"}, keys(conflicts))
	assert.Equal(t, "/theirs", values(typed(t, got))["AWS_WEB_IDENTITY_TOKEN_FILE"])
}
