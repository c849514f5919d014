// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"reflect"
	"strings"

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
	versions, _, err := unstructured.NestedSlice(crd, "spec", "versions")
	if err != nil {
		return err
	}
	for _, version := range versions {
		schema, ok, err := unstructured.NestedFieldNoCopy(version.(map[string]any), "schema", "openAPIV3Schema")
		if err != nil || !ok {
			return fmt.Errorf("kind %s: no schema (%v)", kind, err)
		}
		walk(schema.(map[string]any), goType)
	}
	return unstructured.SetNestedSlice(crd, versions, "spec", "versions")
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
	if child, ok := schema[key].(map[string]any); ok {
		walk(child, t)
	}
}

func walkStruct(schema map[string]any, t reflect.Type) {
	if t.PkgPath() != ours {
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
		case options == "inline" && field.Type.PkgPath() == ours:
			walkStruct(schema, field.Type)
		}
	}
}

// strip removes the descriptions of a schema and of all below it, but not a property that is called description.
func strip(schema map[string]any) {
	delete(schema, "description")
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
