// SPDX-License-Identifier: Apache-2.0

package runnerdeployment_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An eksWebhook changes pods at admission as the EKS pod identity webhook does: token volume, variables and mount in every
// container. Unlike that one it also annotates pods on UPDATE, as service meshes do.
type eksWebhook struct {
	created, updated atomic.Int64
}

// eks starts such a webhook for the world's namespace, and waits until the API server calls it.
func (w *world) eks() *eksWebhook {
	w.Helper()
	hook := &eksWebhook{}
	server := httptest.NewTLSServer(hook)
	w.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:                    "pod-identity-webhook.amazonaws.test",
			AdmissionReviewVersions: []string{"v1"},
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: authority},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{"CREATE", "UPDATE"},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
		}},
	}
	w.create(configuration)
	w.Cleanup(func() { _ = w.user.Delete(context.WithoutCancel(w.Context()), configuration) })
	require.Eventually(w, func() bool {
		probe := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "probe"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe.test/probe:1"}}},
		}
		if w.user.Create(w.Context(), probe) == nil {
			_ = w.user.Delete(w.Context(), probe)
		}
		return hook.created.Load() > 0
	}, 30*time.Second, 50*time.Millisecond, "the API server calls the webhook")
	return hook
}

type jsonPatch []map[string]any

// ServeHTTP answers an admission review.
func (e *eksWebhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	review := &admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(review.Request.Object.Raw, pod); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	patch := annotate(pod)
	if review.Request.Operation == admissionv1.Create {
		e.created.Add(1)
		patch = identify(pod)
	} else {
		e.updated.Add(1)
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: true, Patch: raw, PatchType: new(admissionv1.PatchTypeJSONPatch),
	}
	_ = json.NewEncoder(w).Encode(review)
}

func annotate(pod *corev1.Pod) jsonPatch {
	annotations := map[string]string{"mesh.test/seen": pod.ResourceVersion}
	for key, value := range pod.Annotations {
		if key != "mesh.test/seen" {
			annotations[key] = value
		}
	}
	return jsonPatch{{"op": "add", "path": "/metadata/annotations", "value": annotations}}
}

// identify is what the EKS webhook adds.
func identify(pod *corev1.Pod) jsonPatch {
	const name, directory = "aws-iam-token", "/var/run/secrets/eks.amazonaws.com/serviceaccount"
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
			ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Audience: "sts.amazonaws.com", ExpirationSeconds: new(int64(86400)), Path: "token",
			},
		}}},
	}})
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		c.Env = append(c.Env,
			corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111122223333:role/by-eks"},
			corev1.EnvVar{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: directory + "/token"})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: directory})
	}
	return jsonPatch{
		{"op": "replace", "path": "/spec/containers", "value": pod.Spec.Containers},
		{"op": "add", "path": "/spec/volumes", "value": pod.Spec.Volumes},
	}
}
