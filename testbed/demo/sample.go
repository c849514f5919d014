// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// sample is what the demo applies: a user's RunnerDeployment and the admin's IdentityProvider.
type sample struct {
	path       string
	deployment *v1alpha1.RunnerDeployment
	provider   *v1alpha1.IdentityProvider
}

func readSample(path string) (sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return sample{}, err
	}
	defer f.Close()
	s := sample{path: path, deployment: &v1alpha1.RunnerDeployment{}, provider: &v1alpha1.IdentityProvider{}}
	docs := utilyaml.NewYAMLOrJSONDecoder(f, 4096)
	if err := docs.Decode(s.deployment); err != nil {
		return sample{}, fmt.Errorf("%s: %w", path, err)
	}
	if err := docs.Decode(s.provider); err != nil {
		return sample{}, fmt.Errorf("%s: %w", path, err)
	}
	s.deployment.Namespace = namespace
	return s, nil
}

// apply shows the user's object as it is in the file and creates both.
func (s sample) apply(ctx context.Context, w *world) error {
	heading("A user applies " + s.path)
	text, err := yaml.Marshal(map[string]any{"kind": "RunnerDeployment", "metadata": map[string]string{"name": s.deployment.Name}, "spec": s.deployment.Spec})
	if err != nil {
		return err
	}
	block(string(text))
	for _, o := range []client.Object{s.provider, s.deployment} {
		if err := w.kube.Create(ctx, o); err != nil {
			return fmt.Errorf("create %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}
