// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"
)

// InstallCRDs installs the CustomResourceDefinitions in the YAML files of a directory, one a file, and returns when the API
// server serves them.
func (c *Cluster) InstallCRDs(ctx context.Context, dir string) error {
	crds, err := readCRDs(dir)
	if err != nil {
		return err
	}
	client, err := apiextensions.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if err := putCRD(ctx, client.CustomResourceDefinitions(), crd); err != nil {
			return fmt.Errorf("install %s: %w", crd.Name, err)
		}
	}
	for _, crd := range crds {
		if err := c.wait(ctx, crd.Name, func(ctx context.Context) error { return c.served(ctx, crd) }); err != nil {
			return err
		}
	}
	return nil
}

func readCRDs(dir string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(raw, crd); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		if crd.Kind == "CustomResourceDefinition" {
			crds = append(crds, crd)
		}
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("no CustomResourceDefinition in %s/*.yaml", dir)
	}
	return crds, nil
}

func putCRD(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, crd *apiextensionsv1.CustomResourceDefinition) error {
	_, err := client.Create(ctx, crd, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	present, err := client.Get(ctx, crd.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	present.Spec = crd.Spec
	_, err = client.Update(ctx, present, metav1.UpdateOptions{})
	return err
}

// served is whether the API server has taken a definition, and offers it to clients that discover.
func (c *Cluster) served(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	client, err := apiextensions.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	present, err := client.CustomResourceDefinitions().Get(ctx, crd.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range present.Status.Conditions {
		if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
			return c.discovered(crd)
		}
	}
	return fmt.Errorf("not established: %v", present.Status.Conditions)
}

func (c *Cluster) discovered(crd *apiextensionsv1.CustomResourceDefinition) error {
	client, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return err
	}
	for _, version := range crd.Spec.Versions {
		list, err := client.ServerResourcesForGroupVersion(crd.Spec.Group + "/" + version.Name)
		if err != nil {
			return err
		}
		for _, resource := range list.APIResources {
			if resource.Name == crd.Spec.Names.Plural {
				return nil
			}
		}
	}
	return errors.New("not in the discovery document yet")
}
