// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// showTimeout bounds the wait for the controller's work.
const showTimeout = 2 * time.Minute

// show waits until the runners are there and shows all that came of the sample.
func show(ctx context.Context, w *world) error {
	pods, err := w.waitForRunners(ctx)
	if err != nil {
		return err
	}
	heading("What came of it")
	if err := w.kubectl(ctx, "get", "runnerdeployments,runneridentities,serviceaccounts,pods"); err != nil {
		return err
	}
	if err := w.showPod(&pods[0]); err != nil {
		return err
	}
	if err := w.showSecret(ctx); err != nil {
		return err
	}
	if err := w.showConditions(ctx); err != nil {
		return err
	}
	heading("Events")
	return w.kubectl(ctx, "get", "events", "--sort-by=.metadata.creationTimestamp",
		"-o=custom-columns=TYPE:.type,REASON:.reason,OBJECT:.involvedObject.kind,NAME:.involvedObject.name,MESSAGE:.message")
}

func (w *world) kubectl(ctx context.Context, args ...string) error {
	out, err := w.cluster.Kubectl(ctx, append([]string{"-n", namespace}, args...)...)
	if err != nil {
		return err
	}
	block(out)
	return nil
}

// waitForRunners waits for an identity that is ready and as many pods as asked for. If they do not come it says why.
func (w *world) waitForRunners(ctx context.Context) ([]corev1.Pod, error) {
	want := int(*w.deployment.Spec.Replicas)
	step("waiting for %d runner pods", want)
	pods := &corev1.PodList{}
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, showTimeout, true, func(ctx context.Context) (bool, error) {
		ri := &v1alpha1.RunnerIdentity{}
		if err := w.kube.Get(ctx, client.ObjectKeyFromObject(w.deployment), ri); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		err := w.kube.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{v1alpha1.LabelRunnerDeployment: w.deployment.Name})
		return len(pods.Items) == want && conditionIs(ri.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue), err
	})
	if err != nil {
		_ = w.showConditions(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("wait for %d runner pods (the controller's log: %s): %w", want, w.controller.tail(), err)
	}
	return pods.Items, nil
}

func conditionIs(conditions []metav1.Condition, kind string, status metav1.ConditionStatus) bool {
	return slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return c.Type == kind && c.Status == status })
}

// showPod prints the part of a runner pod that is its identity.
func (w *world) showPod(pod *corev1.Pod) error {
	heading("The identity in runner pod " + pod.Name)
	runner := pod.Spec.Containers[slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == "runner" })]
	text, err := yaml.Marshal(map[string]any{
		"annotations":        files(pod),
		"serviceAccountName": pod.Spec.ServiceAccountName,
		"imagePullSecrets":   pod.Spec.ImagePullSecrets,
		"containers":         []any{map[string]any{"name": runner.Name, "env": runner.Env, "volumeMounts": runner.VolumeMounts}},
		"volumes":            pod.Spec.Volumes,
	})
	block(string(text))
	return err
}

// files are the plan's files, which ride on the pod as annotations.
func files(pod *corev1.Pod) map[string]string {
	found := map[string]string{}
	for key, value := range pod.Annotations {
		if strings.HasPrefix(key, v1alpha1.AnnotationFilePrefix) {
			found[key] = value
		}
	}
	return found
}

// showSecret prints the registry Secret without its passwords.
func (w *world) showSecret(ctx context.Context) error {
	secret := &corev1.Secret{}
	if err := w.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: w.deployment.Name + "-registry"}, secret); err != nil {
		return err
	}
	heading("The registry Secret " + secret.Name + " (" + string(secret.Type) + ")")
	var config struct {
		Auths map[string]struct{ Username, Password string }
	}
	if err := json.Unmarshal(secret.Data[corev1.DockerConfigJsonKey], &config); err != nil {
		return err
	}
	for _, host := range slices.Sorted(maps.Keys(config.Auths)) {
		step("%s: user %s, password of %d bytes", host, config.Auths[host].Username, len(config.Auths[host].Password))
	}
	step("expires at %s", secret.Annotations[v1alpha1.AnnotationExpires])
	return nil
}

// showConditions prints the conditions of the deployment and of its identity.
func (w *world) showConditions(ctx context.Context) error {
	heading("Conditions")
	rd, ri := &v1alpha1.RunnerDeployment{}, &v1alpha1.RunnerIdentity{}
	key := client.ObjectKeyFromObject(w.deployment)
	if err := w.kube.Get(ctx, key, rd); err != nil {
		return err
	}
	if err := w.kube.Get(ctx, key, ri); client.IgnoreNotFound(err) != nil {
		return err
	}
	printConditions("RunnerDeployment", rd.Status.Conditions)
	printConditions("RunnerIdentity", ri.Status.Conditions)
	for _, r := range ri.Status.Registries {
		step("login to %s expires %s, is renewed %s", r.Host, r.ExpiresAt.UTC().Format(time.RFC3339), r.RenewAt.UTC().Format(time.RFC3339))
	}
	return nil
}

func printConditions(kind string, conditions []metav1.Condition) {
	for _, c := range conditions {
		message := strings.ReplaceAll(c.Message, "\n", " ")
		step("%-17s %-21s %-7s %-14s %s", kind, c.Type, c.Status, c.Reason, message)
	}
}
