// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// install does what an admin does once a cluster: namespaces, the controller's rights, the GitHub credentials.
func (w *world) install(ctx context.Context) error {
	for _, name := range []string{system, namespace} {
		if err := w.kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
	}
	if out, err := w.cluster.Kubectl(ctx, "apply", "-k", "config/rbac"); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	step("config/crd and config/rbac are applied; the controller runs with these rights and no others")
	return w.kube.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "github"},
		StringData: map[string]string{"github_token": githubToken, "github_enterprise_url": w.githubURL},
	})
}
