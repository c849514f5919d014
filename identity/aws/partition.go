// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"regexp"
	"slices"
	"strings"
)

// A partition is one of AWS's separate worlds: accounts, roles and regions of one do not work in another.
type partition struct {
	name string
	// region matches the names of its regions.
	region *regexp.Regexp
	// suffix and dualSuffix end the host names of its APIs: for IPv4, and for both IPv4 and IPv6.
	suffix, dualSuffix string
	// registrySuffixes end the host names of its ECR registries; the first is the usual one.
	registrySuffixes []string
	// example is a region to show in messages.
	example string
}

// The table is data: a new partition, or a new suffix of an old one, is one more line here and nothing else.
var partitionTable = []partition{
	{
		name: "aws", region: regexp.MustCompile(`^(us|eu|ap|sa|ca|me|af|il|mx)-\w+-\d+$`), example: "eu-west-1",
		suffix: "amazonaws.com", dualSuffix: "api.aws", registrySuffixes: []string{"amazonaws.com", "on.aws"},
	},
	{
		name: "aws-cn", region: regexp.MustCompile(`^cn-\w+-\d+$`), example: "cn-north-1",
		suffix: "amazonaws.com.cn", dualSuffix: "api.amazonwebservices.com.cn",
		registrySuffixes: []string{"amazonaws.com.cn", "on.amazonwebservices.com.cn"},
	},
	{
		name: "aws-us-gov", region: regexp.MustCompile(`^us-gov-\w+-\d+$`), example: "us-gov-west-1",
		suffix: "amazonaws.com", dualSuffix: "api.aws", registrySuffixes: []string{"amazonaws.com", "on.aws"},
	},
	{
		name: "aws-eusc", region: regexp.MustCompile(`^eusc-(de)-\w+-\d+$`), example: "eusc-de-east-1",
		suffix: "amazonaws.eu", dualSuffix: "api.amazonwebservices.eu",
		registrySuffixes: []string{"amazonaws.eu", "on.amazonwebservices.eu"},
	},
	{
		name: "aws-iso", region: regexp.MustCompile(`^us-iso-\w+-\d+$`), example: "us-iso-east-1",
		suffix: "c2s.ic.gov", dualSuffix: "api.aws.ic.gov", registrySuffixes: []string{"c2s.ic.gov"},
	},
	{
		name: "aws-iso-b", region: regexp.MustCompile(`^us-isob-\w+-\d+$`), example: "us-isob-east-1",
		suffix: "sc2s.sgov.gov", dualSuffix: "api.aws.scloud", registrySuffixes: []string{"sc2s.sgov.gov"},
	},
	{
		name: "aws-iso-e", region: regexp.MustCompile(`^eu-isoe-\w+-\d+$`), example: "eu-isoe-west-1",
		suffix: "cloud.adc-e.uk", dualSuffix: "api.cloud-aws.adc-e.uk", registrySuffixes: []string{"cloud.adc-e.uk"},
	},
	{
		name: "aws-iso-f", region: regexp.MustCompile(`^us-isof-\w+-\d+$`), example: "us-isof-south-1",
		suffix: "csp.hci.ic.gov", dualSuffix: "api.aws.hci.ic.gov", registrySuffixes: []string{"csp.hci.ic.gov"},
	},
}

// partitionNamed finds a partition by its name in ARNs.
func partitionNamed(name string) (partition, bool) {
	return firstPartition(func(p partition) bool { return p.name == name })
}

// partitionOf finds the partition of a region.
func partitionOf(region string) (partition, bool) {
	return firstPartition(func(p partition) bool { return p.region.MatchString(region) })
}

func firstPartition(is func(partition) bool) (partition, bool) {
	all := partitionTable
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return partition{}, false
	}
	return all[i], true
}

// partitionNames are the names, in the table's order.
func partitionNames() []string {
	var names []string
	for _, p := range partitionTable {
		names = append(names, p.name)
	}
	return names
}

// regionExamples lists an example region of each partition, for messages.
func regionExamples() string {
	var examples []string
	for _, p := range partitionTable {
		examples = append(examples, p.example)
	}
	return strings.Join(examples, ", ")
}
