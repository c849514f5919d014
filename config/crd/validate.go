// SPDX-License-Identifier: Apache-2.0

// Package crd holds the CustomResourceDefinitions, and checks objects against them without an API server: the same schema, the
// same defaults, the same CEL rules, the same words.
package crd

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

//go:embed runner-identity.dev_*.yaml
var files embed.FS

// validator checks the objects of one kind.
type validator struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

var validators = sync.OnceValues(load)

// Validate fills in an object's defaults and checks it. The error lists everything that is wrong, each with its field.
func Validate(object map[string]any) error {
	all, err := validators()
	if err != nil {
		return err
	}
	u := unstructured.Unstructured{Object: object}
	v, ok := all[u.GetKind()]
	if !ok {
		return fmt.Errorf("kind %q: there is no such kind in %s", u.GetKind(), u.GroupVersionKind().Group)
	}
	unknown := pruning.PruneWithOptions(u.DeepCopy().Object, v.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(unknown) > 0 {
		return fmt.Errorf("%s %q: unknown field %q", u.GetKind(), u.GetName(), unknown[0])
	}
	defaulting.Default(object, v.structural)
	errs := validation.ValidateCustomResource(nil, object, v.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, object)...)
	if len(errs) == 0 {
		var celErrs field.ErrorList
		celErrs, _ = v.rules.Validate(context.Background(), nil, v.structural, object, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, celErrs...)
	}
	if err := errs.ToAggregate(); err != nil {
		return fmt.Errorf("%s %q: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

func load() (map[string]validator, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	all := map[string]validator{}
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		kind, v, err := parse(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all[kind] = v
	}
	return all, nil
}

func parse(b []byte) (string, validator, error) {
	def := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(b, &def); err != nil {
		return "", validator{}, err
	}
	internal := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(def.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil)
	if err != nil {
		return "", validator{}, err
	}
	structural, err := schema.NewStructural(internal)
	if err != nil {
		return "", validator{}, err
	}
	s, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return "", validator{}, err
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	return def.Spec.Names.Kind, validator{structural: structural, schema: s, rules: rules}, nil
}
