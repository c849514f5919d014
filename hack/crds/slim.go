// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
)

// ours is the package whose fields keep their descriptions.
var ours = reflect.TypeFor[v1alpha1.RunnerDeployment]().PkgPath()

// slim removes descriptions below each field whose type is not ours. It walks the Go type beside the schema, so a new field
// needs nothing here.
func slim(crd map[string]any, kinds map[string]reflect.Type) error {
	kind, _, _ := unstructured.NestedString(crd, "spec", "names", "kind")
	goType, ok := kinds[kind]
	if !ok {
		return fmt.Errorf("kind %q is not in the package's scheme", kind)
	}
	versions, _, err := unstructured.NestedFieldNoCopy(crd, "spec", "versions")
	if err != nil {
		return err
	}
	for _, version := range versions.([]any) {
		schema, ok, err := unstructured.NestedFieldNoCopy(version.(map[string]any), "schema", "openAPIV3Schema")
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("kind %s: no schema", kind)
		}
		walk(schema.(map[string]any), goType)
	}
	return nil
}

// walk keeps a schema's own description, which is the field's, and looks below it.
func walk(schema map[string]any, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer:
		walk(schema, t.Elem())
	case reflect.Slice:
		below(schema, "items", t.Elem())
	case reflect.Map:
		below(schema, "additionalProperties", t.Elem())
	case reflect.Struct:
		walkStruct(schema, t)
	}
}

func below(schema map[string]any, key string, t reflect.Type) {
	child, ok := schema[key].(map[string]any)
	if !ok {
		return
	}
	walk(child, t)
	if isForeign(t) {
		schema[key] = oneLine(child)
	}
}

// isForeign is whether a field is a type that is not ours.
func isForeign(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct && t.PkgPath() != ours
}

func walkStruct(schema map[string]any, t reflect.Type) {
	if isForeign(t) {
		own, described := schema["description"]
		strip(schema)
		if described {
			schema["description"] = own
		}
		return
	}
	properties, _ := schema["properties"].(map[string]any)
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "":
			below(properties, name, field.Type)
		case options == "inline" && !isForeign(field.Type):
			walkStruct(schema, field.Type)
		}
	}
}

// strip removes the descriptions of a schema and of all below it, but not a property that is called description.
func strip(schema map[string]any) {
	delete(schema, "description")
	bound(schema)
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		strip(property.(map[string]any))
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child, ok := schema[key].(map[string]any); ok {
			strip(child)
		}
	}
}

// bound refuses what Go cannot read.
func bound(schema map[string]any) {
	switch {
	case schema["pattern"] == quantity:
		schema["pattern"] = safeQuantity
	case schema["x-kubernetes-int-or-string"] == true:
		schema["minimum"], schema["maximum"] = math.MinInt32, math.MaxInt32
	}
}

// The pattern of quantities that controller-gen writes lets through what Go cannot read (1e.5), and what it reads for hours
// (1e999999999): either would stop the controller for everyone. Ours takes one or two digits as exponent.
const (
	quantity     = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
	safeQuantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
)

// oneLine is a schema that nobody reads here. Most of the size of a definition is the indentation of such schemas.
type oneLine map[string]any

// MarshalYAML writes it in YAML's flow style.
func (o oneLine) MarshalYAML() (any, error) {
	node := &yaml.Node{}
	err := node.Encode(map[string]any(o))
	node.Style |= yaml.FlowStyle
	return node, err
}
