// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A form is the demo of one provider.
type form struct {
	// provider is the plug-in's name, set by formOf.
	provider string
	// title names the cloud, client what in the pod would speak to it.
	title, client string
	// sample is what is applied if nothing else is asked for.
	sample string
	// manual says what else the simulator does.
	manual string
	cloud  cloud
}

// forms are all forms, by provider.
func forms() map[string]form {
	return map[string]form{
		"aws": {title: "AWS", client: "the AWS SDK", sample: "config/samples/aws.yaml", manual: "testbed/aws/README.md", cloud: &awsCloud{}},
		"gcp": {title: "Google", client: "Google's clients", sample: "config/samples/gcp-federation.yaml", manual: "testbed/gcp/README.md", cloud: &gcpCloud{}},
	}
}

// formOf is the form for a provider.
func formOf(provider string) (form, error) {
	f, ok := forms()[provider]
	if !ok {
		return form{}, fmt.Errorf("provider %q: there is a demo for %s", provider, strings.Join(providers(), " and "))
	}
	f.provider = provider
	return f, nil
}

func providers() []string { return slices.Sorted(maps.Keys(forms())) }
