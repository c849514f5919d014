// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/config/crd"
)

// objects are the objects of a file that this program knows; others are left out.
type objects struct {
	deployments []*v1alpha1.RunnerDeployment
	identities  []*v1alpha1.RunnerIdentity
	providers   map[string]*v1alpha1.IdentityProvider
	namespaces  map[string]*corev1.Namespace
}

// load reads YAML files, "-" being standard input. What the API server would refuse is refused here, with the same words.
func load(stdin io.Reader, files []string) (objects, error) {
	o := objects{providers: map[string]*v1alpha1.IdentityProvider{}, namespaces: map[string]*corev1.Namespace{}}
	for _, file := range files {
		if err := o.readFile(stdin, file); err != nil {
			return objects{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(o.deployments)+len(o.identities) == 0 {
		return objects{}, fmt.Errorf("%q: no RunnerDeployment or RunnerIdentity of %s in it", files, v1alpha1.GroupVersion)
	}
	return o, nil
}

func (o *objects) readFile(stdin io.Reader, file string) error {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	docs := utilyaml.NewYAMLReader(bufio.NewReader(in))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := o.add(doc); err != nil {
			return err
		}
	}
}

// add takes one document.
func (o *objects) add(doc []byte) error {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &kind); err != nil {
		return err
	}
	switch kind.GroupVersionKind() {
	case v1alpha1.GroupVersion.WithKind("RunnerDeployment"):
		rd := &v1alpha1.RunnerDeployment{}
		o.deployments = append(o.deployments, rd)
		return decode(doc, rd, &rd.ObjectMeta)
	case v1alpha1.GroupVersion.WithKind("RunnerIdentity"):
		ri := &v1alpha1.RunnerIdentity{}
		o.identities = append(o.identities, ri)
		return decode(doc, ri, &ri.ObjectMeta)
	case v1alpha1.GroupVersion.WithKind("IdentityProvider"):
		p := &v1alpha1.IdentityProvider{}
		err := decode(doc, p, &p.ObjectMeta)
		o.providers[p.Name] = p
		return err
	case corev1.SchemeGroupVersion.WithKind("Namespace"):
		ns := &corev1.Namespace{}
		err := yaml.Unmarshal(doc, ns)
		o.namespaces[ns.Name] = ns
		return err
	}
	return nil
}

// decode validates and defaults a document as the API server does, and puts namespaced objects without one into "default".
func decode(doc []byte, into runtime.Object, meta *metav1.ObjectMeta) error {
	object := map[string]any{}
	if err := yaml.UnmarshalStrict(doc, &object); err != nil {
		return err
	}
	if err := crd.Validate(object); err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, into, true); err != nil {
		return err
	}
	if _, clusterScoped := into.(*v1alpha1.IdentityProvider); !clusterScoped && meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault
	}
	return nil
}
