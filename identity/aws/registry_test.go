// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The vectors are those of Amazon's own credential helpers.
func TestHostsThatAmazonsHelpersTakeAreTaken(t *testing.T) {
	for s, want := range map[string]registry{
		"111122223333.dkr.ecr.us-west-2.amazonaws.com":                  {account: "111122223333", region: "us-west-2", suffix: "amazonaws.com"},
		"111122223333.dkr.ecr.lala-land-1.amazonaws.com":                {account: "111122223333", region: "lala-land-1", suffix: "amazonaws.com"},
		"111122223333.dkr.ecr-fips.us-west-2.amazonaws.com":             {account: "111122223333", region: "us-west-2", suffix: "amazonaws.com", fips: true},
		"111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn":              {account: "111122223333", region: "cn-north-1", suffix: "amazonaws.com.cn"},
		"111122223333.dkr.ecr.us-gov-west-1.amazonaws.com":              {account: "111122223333", region: "us-gov-west-1", suffix: "amazonaws.com"},
		"111122223333.dkr.ecr-fips.us-gov-west-1.amazonaws.com":         {account: "111122223333", region: "us-gov-west-1", suffix: "amazonaws.com", fips: true},
		"111122223333.dkr.ecr.eusc-de-east-1.amazonaws.eu":              {account: "111122223333", region: "eusc-de-east-1", suffix: "amazonaws.eu"},
		"111122223333.dkr.ecr.us-iso-east-1.c2s.ic.gov":                 {account: "111122223333", region: "us-iso-east-1", suffix: "c2s.ic.gov"},
		"111122223333.dkr.ecr.us-isob-east-1.sc2s.sgov.gov":             {account: "111122223333", region: "us-isob-east-1", suffix: "sc2s.sgov.gov"},
		"111122223333.dkr.ecr.eu-isoe-west-1.cloud.adc-e.uk":            {account: "111122223333", region: "eu-isoe-west-1", suffix: "cloud.adc-e.uk"},
		"111122223333.dkr.ecr.us-isof-south-1.csp.hci.ic.gov":           {account: "111122223333", region: "us-isof-south-1", suffix: "csp.hci.ic.gov"},
		"111122223333.dkr-ecr.us-west-2.on.aws":                         {account: "111122223333", region: "us-west-2", suffix: "on.aws", dual: true},
		"111122223333.dkr-ecr-fips.us-west-2.on.aws":                    {account: "111122223333", region: "us-west-2", suffix: "on.aws", dual: true, fips: true},
		"111122223333.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn":   {account: "111122223333", region: "cn-north-1", suffix: "on.amazonwebservices.com.cn", dual: true},
		"111122223333.dkr.ecr.cn-north-1.on.amazonwebservices.com.cn":   {account: "111122223333", region: "cn-north-1", suffix: "on.amazonwebservices.com.cn", dual: true},
		"https://111122223333.dkr.ecr.us-west-2.amazonaws.com":          {account: "111122223333", region: "us-west-2", suffix: "amazonaws.com"},
		"https://111122223333.dkr.ecr.us-west-2.amazonaws.com/v2/blah/": {account: "111122223333", region: "us-west-2", suffix: "amazonaws.com"},
		"111122223333.dkr.ecr.us-west-2.amazonaws.com/team/app:1.2":     {account: "111122223333", region: "us-west-2", suffix: "amazonaws.com"},
		"111122223333.dkr.ecr.us-west-2.amazonaws.com/app@sha256:0123":  {account: "111122223333", region: "us-west-2", suffix: "amazonaws.com"},
		"111122223333.dkr.ecr.us-west-2.amazonaws.com/public.ecr.aws/x": {account: "111122223333", region: "us-west-2", suffix: "amazonaws.com"},
		"public.ecr.aws":                            {public: true},
		"https://public.ecr.aws":                    {public: true},
		"public.ecr.aws/docker/library/golang:1.26": {public: true},
		"public.ecr.aws/111122223333.dkr.ecr.us-west-2.amazonaws.com/blah": {public: true},
		"ecr-public.aws.com": {public: true, dual: true},
	} {
		t.Run(s, func(t *testing.T) {
			got, ok := parseRegistry(s)
			require.True(t, ok)
			got.host = ""
			assert.Equal(t, want, got)
		})
	}
}

func TestHostsThatAmazonsHelpersRefuseAreRefused(t *testing.T) {
	for _, s := range []string{
		"",
		"docker.io", "ghcr.io/actions/actions-runner", "gcr.io", "localhost:5000",
		"11112222333.dkr.ecr.us-west-2.amazonaws.com",
		"1111222233334.dkr.ecr.us-west-2.amazonaws.com",
		"11112222333A.dkr.ecr.us-west-2.amazonaws.com",
		"111122223333.dkr.ecr.us-west-!.amazonaws.com",
		"111122223333.dkr.ecr.us-west-#.amazonaws.com",
		"111122223333.dkr.ecr.-west-2.amazonaws.com",
		"111122223333.dkr.ecr.us-west-2.hacker.com",
		"111122223333.dkr.ecr.us-west-2.amazonaws.com.hacker.com",
		"111122223333.dkr.ecr.us-west-2.amazonaws.lol",
		"111122223333.dkr.ecr.us-west-2.amazonaws.com.fake.example.com",
		"111122223333.dkr.ecr.cn-north-1.on.aws.com.cn",
		"111122223333.dkr.ecr.us-iso-east-1.amazonaws.gov",
		"111122223333.dog.ecr.us-west-2.amazonaws.com",
		"111122223333.dkr.cat.us-west-2.amazonaws.com",
		"111122223333.ecr.us-west-2.amazonaws.com",
		".111122223333.dkr.ecr.us-west-2.amazonaws.com",
		"x.111122223333.dkr.ecr.us-west-2.amazonaws.com",
		"111122223333.dkr.ecr.us-west-2.amazonaws.com.",
		"111122223333.dkr.ecr..amazonaws.com",
		"public.ecr.aws.fake.example.com", "fake.public.ecr.aws", "ecr.aws",
		"example.com/111122223333.dkr.ecr.us-west-2.amazonaws.com/x", "example.com/public.ecr.aws",
		"111122223333.dkr.ecr.us-west-2.amazonaws.com@example.com/x",
		"an image with blanks", "http://public.ecr.aws",
	} {
		t.Run(s, func(t *testing.T) {
			_, ok := parseRegistry(s)
			assert.False(t, ok)
		})
	}
}

func TestABareHostHasNothingAroundIt(t *testing.T) {
	const host = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
	for s, want := range map[string]bool{
		host: true, host + ":443": true, "public.ecr.aws": true,
		"https://" + host: false, host + "/": false, host + "/x": false, host + "?x": false, host + "#x": false, "": false,
	} {
		t.Run(s, func(t *testing.T) {
			assert.Equal(t, want, New().Serves(s))
		})
	}
}
