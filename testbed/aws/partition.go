// SPDX-License-Identifier: Apache-2.0

package aws

import "strings"

// A partition is one of AWS's separate clouds. The table is the simulator's own, not the product's: a checker that shares
// its tables with what it checks finds none of their mistakes.
type partition struct {
	name     string
	prefixes []string
	suffix   string
	// dual is the suffix of dual-stack registry hosts.
	dual string
}

func partitions() []partition {
	return []partition{
		{name: "aws-cn", prefixes: []string{"cn-"}, suffix: "amazonaws.com.cn", dual: "on.amazonwebservices.com.cn"},
		{name: "aws-us-gov", prefixes: []string{"us-gov-"}, suffix: "amazonaws.com", dual: "on.aws"},
		{name: "aws-eusc", prefixes: []string{"eusc-"}, suffix: "amazonaws.eu"},
		{name: "aws-iso", prefixes: []string{"us-iso-"}, suffix: "c2s.ic.gov"},
		{name: "aws-iso-b", prefixes: []string{"us-isob-"}, suffix: "sc2s.sgov.gov"},
		{name: "aws-iso-e", prefixes: []string{"eu-isoe-"}, suffix: "cloud.adc-e.uk"},
		{name: "aws-iso-f", prefixes: []string{"us-isof-"}, suffix: "csp.hci.ic.gov"},
		// Last: its prefixes are prefixes of others'.
		{
			name:     "aws",
			prefixes: []string{"us-", "eu-", "ap-", "sa-", "ca-", "me-", "af-", "il-", "mx-"},
			suffix:   "amazonaws.com", dual: "on.aws",
		},
	}
}

func partitionOf(region string) (partition, bool) {
	for _, p := range partitions() {
		for _, prefix := range p.prefixes {
			if strings.HasPrefix(region, prefix) {
				return p, true
			}
		}
	}
	return partition{}, false
}
