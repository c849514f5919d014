// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

type file struct {
	Issuers []Issuer            `json:"issuers"`
	Roles   map[string]fileRole `json:"roles"`
}

type fileRole struct {
	Role
	// TrustPolicy is written as an object, or as the text of one.
	TrustPolicy json.RawMessage `json:"trustPolicy"`
	MaxSession  metav1.Duration `json:"maxSession,omitzero"`
}

// ReadFile reads issuers and roles from YAML, as roles.example.yaml has them. A field that it does not know is an error.
func ReadFile(b []byte) (Config, error) {
	var f file
	if err := yaml.UnmarshalStrict(b, &f); err != nil {
		return Config{}, fmt.Errorf("roles file: %w", err)
	}
	c := Config{Issuers: f.Issuers, Roles: map[string]Role{}}
	for arn, r := range f.Roles {
		r.Role.TrustPolicy, r.Role.MaxSession = r.TrustPolicy, r.MaxSession.Duration
		var text string
		if json.Unmarshal(r.TrustPolicy, &text) == nil {
			r.Role.TrustPolicy = json.RawMessage(text)
		}
		c.Roles[arn] = r.Role
	}
	return c, nil
}
