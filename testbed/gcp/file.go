// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

type file struct {
	Providers       []Provider                `json:"providers"`
	ServiceAccounts map[string]ServiceAccount `json:"serviceAccounts"`
	Repositories    map[string]Repository     `json:"repositories"`
	Lifetimes       struct {
		Federated metav1.Duration `json:"federated"`
		Account   metav1.Duration `json:"account"`
	} `json:"lifetimes,omitzero"`
}

// ReadFile reads a config from YAML, as iam.example.yaml has it. A field that it does not know is an error.
func ReadFile(b []byte) (Config, error) {
	var f file
	if err := yaml.UnmarshalStrict(b, &f); err != nil {
		return Config{}, fmt.Errorf("iam file: %w", err)
	}
	return Config{
		Providers: f.Providers, ServiceAccounts: f.ServiceAccounts, Repositories: f.Repositories,
		Lifetimes: Lifetimes{Federated: f.Lifetimes.Federated.Duration, Account: f.Lifetimes.Account.Duration},
	}, nil
}
