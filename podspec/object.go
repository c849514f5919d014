// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// object is the object at a key of o; nil if there is none. The path is where o stands, for the error.
func object(o Object, path, key string) (Object, error) {
	switch v := o[key].(type) {
	case nil:
		return nil, nil
	case Object:
		return v, nil
	default:
		return nil, malformed(path, key, v, "an object")
	}
}

// list is the list of objects at a key of o, each of which is known by a string called id; nil if there is none.
func list(o Object, path, key, id string) ([]Object, error) {
	values, ok := o[key].([]any)
	if !ok {
		if o[key] == nil {
			return nil, nil
		}
		return nil, malformed(path, key, o[key], "a list")
	}
	objects := make([]Object, len(values))
	for i, v := range values {
		entry := fmt.Sprintf("%s[%d]", key, i)
		if objects[i], ok = v.(Object); !ok {
			return nil, malformed(path, entry, v, "an object")
		}
		if _, err := text(objects[i], join(path, entry), id); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// text is the string at a key of o; empty if there is none.
func text(o Object, path, key string) (string, error) {
	switch v := o[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", malformed(path, key, v, "a string")
	}
}

func malformed(path, key string, have any, want string) error {
	return fmt.Errorf("%s: is %s, not %s", join(path, key), kind(have), want)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case Object:
		return "an object"
	case json.Number, float64, int64, int:
		return "a number"
	}
	return fmt.Sprintf("a %T", v)
}

// set returns o with a value at a key. It copies o: callers hold objects of others.
func set(o Object, key string, value any) Object {
	if o = maps.Clone(o); o == nil {
		o = Object{}
	}
	o[key] = value
	return o
}

// appended returns o with values at the end of the list at a key; o itself if there are none. The list was checked before.
func appended(o Object, key string, values []any) Object {
	if len(values) == 0 {
		return o
	}
	have, _ := o[key].([]any)
	return set(o, key, slices.Concat(have, values))
}
