// SPDX-License-Identifier: Apache-2.0

package podspec_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

const ourToken = `projected: {"sources":[{"serviceAccountToken":{"audience":"sts.amazonaws.com","expirationSeconds":86400,"path":"token"}}]}`

func TestApply(t *testing.T) {
	aws, chain := awsPodPlan(), podspec.Of(chainPlan(), identity.Runner, "website-runner", nil)
	job := podspec.Of(awsPlan(), identity.Job, "website-job", []string{"website-registry", "website-x7k2p-secret-0a1b2c3d"})
	marked := chain
	marked.Labels = map[string]string{"example.com/identity": "gcp"}
	marked.NodeSelector = map[string]string{"iam.gke.io/gke-metadata-server-enabled": "true"}
	for name, tc := range map[string]struct {
		pod        string
		plan       v1alpha1.PodPlan
		containers []string
		conflicts  []string
	}{
		"a plain runner pod gets role, token and account":              {pod: "plain", plan: aws},
		"a config file reaches the runner through an annotation":       {pod: "plain", plan: chain},
		"a runner that is second in the list still gets the token":     {pod: "second", plan: aws},
		"dind as a native sidecar gets nothing and stays a sidecar":    {pod: "dind-native-sidecar", plan: aws},
		"dind as a plain sidecar gets nothing":                         {pod: "dind-plain-sidecar", plan: aws},
		"a native sidecar gets the identity if it is named":            {pod: "dind-native-sidecar", plan: aws, containers: []string{"runner", "dind"}},
		"init containers get the identity by name, others do not":      {pod: "init-by-name", plan: aws, containers: []string{"fetch", "helper"}},
		"a pod written by hand for IRSA is left as it is (ARC#16)":     {pod: "arc-16", plan: aws},
		"mounts above and below the token are the pod's own affair":    {pod: "nested-mounts", plan: aws},
		"an ephemeral container of the runner's name is left alone":    {pod: "ephemeral", plan: aws},
		"fields that are newer than our library survive":               {pod: "future", plan: aws},
		"job pods of hooks 0.8: services get nothing, fsGroup is kept": {pod: "job-hook-0.8", plan: job, containers: []string{"job"}},
		"a pod keeps an identity of its own under its own account (ARC#226)": {
			pod: "arc-226-other-role", plan: aws,
			conflicts: []string{`spec.serviceAccountName: is "their-own", wanted "website-runner"`},
		},
		"an account by the old name of its field is an account": {
			pod: "legacy-account", plan: aws,
			conflicts: []string{`spec.serviceAccountName: is "theirs", wanted "website-runner"`},
		},
		"a foreign volume called aws-iam-token is not mistaken for ours (pod-identity-webhook#315)": {
			pod: "foreign-volume", plan: aws, conflicts: []string{
				`spec.volumes "aws-iam-token": is the source projected: {"sources":[{"serviceAccountToken":{"audience":"vault","path":"token"}}]}, wanted the source ` + ourToken + ``,
			},
		},
		"a volume of our name with a source of the future beside ours is not ours": {
			pod: "wider-volume", plan: aws, conflicts: []string{
				`spec.volumes "aws-iam-token": is the source projected: {"sources":[{"serviceAccountToken":{"audience":"sts.amazonaws.com","expirationSeconds":86400,"path":"token"}},{"sourceOfTheFuture":{"name":"new"}}]}, wanted the source ` + ourToken + ``,
			},
		},
		"a path that is taken is not mounted over, however it is written": {
			pod: "foreign-mount", plan: aws, conflicts: []string{
				`container "runner": volumeMounts "/var/run/secrets/eks.amazonaws.com/serviceaccount": ` +
					`is a mount of the volume "own-token", wanted the volume "aws-iam-token"`,
			},
		},
		"a mount of a part of our volume never sees a renewed token": {
			pod: "subpath-mount", plan: aws, conflicts: []string{
				`container "runner": volumeMounts "/var/run/secrets/eks.amazonaws.com/serviceaccount": ` +
					`is a mount of the volume "aws-iam-token", of a part of it, wanted the volume "aws-iam-token"`,
			},
		},
		"a Windows pod by its os is left alone": {
			pod: "windows-os", plan: aws,
			conflicts: []string{`spec.os "name": is "windows", wanted "linux": Windows is not supported`},
		},
		"a Windows pod by its node selector is left alone": {
			pod: "windows-selector", plan: aws,
			conflicts: []string{`spec.nodeSelector "kubernetes.io/os": is "windows", wanted "linux": Windows is not supported`},
		},
		"a Windows pod by the old node label is left alone": {
			pod: "windows-beta-selector", plan: aws,
			conflicts: []string{`spec.nodeSelector "beta.kubernetes.io/os": is "windows", wanted "linux": Windows is not supported`},
		},
		"a variable of the user's wins in whatever form, and envFrom is not looked into": {
			pod: "env", plan: aws, conflicts: []string{
				`container "runner": env "AWS_ROLE_SESSION_NAME": is set by valueFrom, wanted "ci-website"`,
				`container "runner": env "AWS_REGION": is "us-east-1", wanted "eu-west-1"`,
				`container "runner": env "AWS_EC2_METADATA_DISABLED": is "", wanted "true"`,
			},
		},
		"job pods of hooks 0.7: the workflow's own variable wins, the account is switched": {
			pod: "job-hook-0.7", plan: job, containers: []string{"job"},
			conflicts: []string{`container "job": env "AWS_REGION": is "us-east-2", wanted "eu-west-1"`},
		},
		"labels, annotations and node selector of the user's win": {
			pod: "metadata", plan: marked, conflicts: []string{
				`metadata.labels "example.com/identity": is "theirs", wanted "gcp"`,
				`metadata.annotations "file.runner-identity.dev/aws_config": is "theirs", wanted a value of 220 characters`,
				`spec.nodeSelector "iam.gke.io/gke-metadata-server-enabled": is "false", wanted "true"`,
			},
		},
		"a container that is not there is reported": {
			pod: "plain", plan: aws, containers: []string{"runner", "job"},
			conflicts: []string{`spec.containers "job": is missing, wanted a container of this name`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.containers == nil {
				tc.containers = []string{podspec.RunnerContainer}
			}
			pod, conflicts := apply(t, load[podspec.Object](t, "apply/"+tc.pod+".yaml"), tc.plan, tc.containers...)
			var got []string
			for _, c := range conflicts {
				got = append(got, c.String())
			}
			assert.Equal(t, tc.conflicts, got)
			goldenPod(t, "apply/want/"+fileName(name), pod, conflicts)
		})
	}
}

func TestAWindowsPodIsReturnedAsItIs(t *testing.T) {
	for _, name := range []string{"windows-os", "windows-selector", "windows-beta-selector"} {
		before := load[podspec.Object](t, "apply/"+name+".yaml")
		after, _ := apply(t, before, awsPodPlan(), podspec.RunnerContainer)
		assert.Equal(t, before, after)
	}
}

func TestAPodWithItsOwnAccountGetsThePullSecretsOnly(t *testing.T) {
	before := load[podspec.Object](t, "apply/arc-226-other-role.yaml")
	after, _ := apply(t, before, awsPodPlan(), podspec.RunnerContainer)
	spec := after["spec"].(podspec.Object)
	assert.Equal(t, []any{podspec.Object{"name": "website-registry"}}, spec["imagePullSecrets"])
	delete(spec, "imagePullSecrets")
	assert.Equal(t, before, after)
}

func TestTheZeroPlanAddsNothing(t *testing.T) {
	before := load[podspec.Object](t, "apply/dind-native-sidecar.yaml")
	after, conflicts := apply(t, before, v1alpha1.PodPlan{}, podspec.RunnerContainer, "no-such-container")
	assert.Empty(t, conflicts)
	assert.Equal(t, before, after)
}

func TestARepeatedPullSecretIsAddedOnce(t *testing.T) {
	plan := v1alpha1.PodPlan{ImagePullSecrets: []v1alpha1.SecretName{{Name: "a"}, {Name: "b"}, {Name: "a"}}}
	after, _ := apply(t, parse[podspec.Object](t, `{spec: {imagePullSecrets: [{name: b}]}}`), plan)
	assert.Equal(t, `{"spec":{"imagePullSecrets":[{"name":"b"},{"name":"a"}]}}`, toJSON(t, after))
}

func TestAWritableDirectory(t *testing.T) {
	plan := parse[v1alpha1.PodPlan](t, `{volumes: [{name: docker, emptyDir: {}}], volumeMounts: [{name: docker, mountPath: /docker}]}`)
	for name, tc := range map[string]struct{ pod, conflict string }{
		"is added":                                  {`{spec: {containers: [{name: runner}]}}`, ""},
		"is the same if the pod has it already":     {`{spec: {containers: [{name: runner, volumeMounts: [{name: docker, mountPath: /docker/}]}], volumes: [{name: docker, emptyDir: {}}]}}`, ""},
		"is not served by a read-only mount of it":  {`{spec: {containers: [{name: runner, volumeMounts: [{name: docker, mountPath: /docker, readOnly: true}]}]}}`, `container "runner": volumeMounts "/docker": is a mount of the volume "docker", read-only, wanted the volume "docker"`},
		"is not served by a directory of the node":  {`{spec: {containers: [{name: runner}], volumes: [{name: docker, hostPath: {path: /}}]}}`, `spec.volumes "docker": is the source hostPath, wanted the source emptyDir: {}`},
		"is not served by one of another medium":    {`{spec: {containers: [{name: runner}], volumes: [{name: docker, emptyDir: {medium: Memory}}]}}`, `spec.volumes "docker": is the source emptyDir: {"medium":"Memory"}, wanted the source emptyDir: {}`},
		"is not served by a field in another case":  {`{spec: {containers: [{name: runner}], volumes: [{name: docker, EMPTYDIR: {}}]}}`, `spec.volumes "docker": is the source EMPTYDIR, wanted the source emptyDir: {}`},
		"is not served by a projected volume":       {`{spec: {containers: [{name: runner}], volumes: [{name: docker, projected: {}}]}}`, `spec.volumes "docker": is the source projected: {}, wanted the source emptyDir: {}`},
		"is not served by a mount by an expression": {`{spec: {containers: [{name: runner, volumeMounts: [{name: docker, mountPath: /docker, subPathExpr: $(A)}]}]}}`, `container "runner": volumeMounts "/docker": is a mount of the volume "docker", of a part of it, wanted the volume "docker"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, conflicts := apply(t, parse[podspec.Object](t, tc.pod), plan, podspec.RunnerContainer)
			if tc.conflict == "" {
				assert.Empty(t, conflicts)
				return
			}
			require.Len(t, conflicts, 1)
			assert.Equal(t, tc.conflict, conflicts[0].String())
		})
	}
}

func TestAMalformedPodIsAnErrorThatSaysWhere(t *testing.T) {
	plan := awsPodPlan()
	plan.Labels = map[string]string{"a": "b"}
	for pod, want := range map[string]string{
		`{}`:                                     `spec: is missing`,
		`{spec: null}`:                           `spec: is missing`,
		`{spec: text}`:                           `spec: is a string, not an object`,
		`{spec: {os: 1}}`:                        `spec.os: is a number, not an object`,
		`{spec: {nodeSelector: []}}`:             `spec.nodeSelector: is a list, not an object`,
		`{spec: {containers: {}}}`:               `spec.containers: is an object, not a list`,
		`{spec: {containers: [a]}}`:              `spec.containers[0]: is a string, not an object`,
		`{spec: {containers: [null]}}`:           `spec.containers[0]: is null, not an object`,
		`{spec: {containers: [{name: 1}]}}`:      `spec.containers[0].name: is a number, not a string`,
		`{spec: {containers: [{name: []}]}}`:     `spec.containers[0].name: is a list, not a string`,
		`{spec: {initContainers: true}}`:         `spec.initContainers: is a boolean, not a list`,
		`{spec: {volumes: [[]]}}`:                `spec.volumes[0]: is a list, not an object`,
		`{spec: {imagePullSecrets: [1]}}`:        `spec.imagePullSecrets[0]: is a number, not an object`,
		`{spec: {serviceAccountName: {}}}`:       `spec.serviceAccountName: is an object, not a string`,
		`{spec: {serviceAccount: 1}}`:            `spec.serviceAccount: is a number, not a string`,
		`{spec: {}, metadata: []}`:               `metadata: is a list, not an object`,
		`{spec: {}, metadata: {labels: 1}}`:      `metadata.labels: is a number, not an object`,
		`{spec: {}, metadata: {annotations: x}}`: `metadata.annotations: is a string, not an object`,
		`{spec: {containers: [{name: runner}, {name: runner, env: {}}]}}`:                  `spec.containers[1].env: is an object, not a list`,
		`{spec: {containers: [{name: runner, env: [{name: {}}]}]}}`:                        `spec.containers[0].env[0].name: is an object, not a string`,
		`{spec: {initContainers: [{name: runner, volumeMounts: 1}]}}`:                      `spec.initContainers[0].volumeMounts: is a number, not a list`,
		`{spec: {containers: [{name: runner, volumeMounts: [{mountPath: [], name: x}]}]}}`: `spec.containers[0].volumeMounts[0].mountPath: is a list, not a string`,
	} {
		t.Run(pod, func(t *testing.T) {
			got, conflicts, err := podspec.Apply(parse[podspec.Object](t, pod), plan, podspec.RunnerContainer)
			require.EqualError(t, err, "malformed pod: "+want)
			assert.Nil(t, got)
			assert.Nil(t, conflicts)
		})
	}
}

func TestDefaultsOfTheAPIServerAreNotAnotherSource(t *testing.T) {
	plan := podspec.Of(chainPlan(), identity.Runner, "", nil)
	for name, source := range map[string]string{
		"filled in":     `{defaultMode: 420, sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: token}}, {downwardAPI: {items: [{path: aws/config, fieldRef: {apiVersion: v1, fieldPath: "metadata.annotations['file.runner-identity.dev/aws_config']"}}]}}]}`,
		"not filled in": `{sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: token}}, {downwardAPI: {items: [{path: aws/config, fieldRef: {fieldPath: "metadata.annotations['file.runner-identity.dev/aws_config']"}}]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, conflicts := apply(t, parse[podspec.Object](t,
				`{spec: {containers: [{name: runner}], volumes: [{name: runner-identity, projected: `+source+`}]}}`), plan, podspec.RunnerContainer)
			assert.Empty(t, conflicts)
		})
	}
}
