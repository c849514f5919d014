// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEachRegionIsInOnePartition(t *testing.T) {
	for region, want := range map[string]string{
		"us-east-1": "aws", "eu-central-2": "aws", "ap-southeast-7": "aws", "mx-central-1": "aws", "il-central-1": "aws",
		"me-south-1": "aws", "af-south-1": "aws", "ca-west-1": "aws", "sa-east-1": "aws",
		"cn-north-1": "aws-cn", "us-gov-east-1": "aws-us-gov", "eusc-de-east-1": "aws-eusc", "us-iso-west-1": "aws-iso",
		"us-isob-east-1": "aws-iso-b", "eu-isoe-west-1": "aws-iso-e", "us-isof-south-1": "aws-iso-f",
	} {
		t.Run(region, func(t *testing.T) {
			var in []string
			for _, p := range partitionTable {
				if p.region.MatchString(region) {
					in = append(in, p.name)
				}
			}
			assert.Equal(t, []string{want}, in)
		})
	}
}

func TestWhatIsNoRegionIsInNoPartition(t *testing.T) {
	for _, s := range []string{"", "eu-west", "eu-west-1a", "EU-WEST-1", "us-west-2\n", " us-west-2", "moon-base-1", "eusc-fr-west-1"} {
		_, ok := partitionOf(s)
		assert.False(t, ok, "%q", s)
	}
}

func TestThePartitionTableIsConsistent(t *testing.T) {
	require.Len(t, partitionTable, 8)
	for _, p := range partitionTable {
		own, ok := partitionOf(p.example)
		require.True(t, ok, p.name)
		assert.Equal(t, p.name, own.name)
		assert.Equal(t, p.suffix, p.registrySuffixes[0], "registries of %s end as its APIs do", p.name)
		assert.Falsef(t, strings.HasPrefix(p.dualSuffix, "."), "%s", p.dualSuffix)
	}
}

func TestRolesAreTakenApart(t *testing.T) {
	for arn, want := range map[string]struct{ partition, account, name string }{
		"arn:aws:iam::111122223333:role/ci":                         {"aws", "111122223333", "ci"},
		"arn:aws-us-gov:iam::111122223333:role/a/b/ci":              {"aws-us-gov", "111122223333", "ci"},
		"arn:aws-iso-f:iam::111122223333:role/with+=,.@-_chars":     {"aws-iso-f", "111122223333", "with+=,.@-_chars"},
		"arn:aws-cn:iam::111122223333:role/aws-service-role/x.y/ci": {"aws-cn", "111122223333", "ci"},
	} {
		t.Run(arn, func(t *testing.T) {
			r, err := parseRole(arn)
			require.NoError(t, err)
			assert.Equal(t, want.partition, r.partition.name)
			assert.Equal(t, want.account, r.account)
			assert.Equal(t, want.name, r.name)
			assert.Equal(t, arn, r.arn)
		})
	}
}

func TestWhatIsNoRoleIsRefused(t *testing.T) {
	for _, arn := range []string{
		"", "ci", "arn", "arn:aws:iam::111122223333:role/", "arn:aws:iam::111122223333:role", "arn:aws:iam::111122223333:role/ci/",
		"arn:aws:iam:eu-west-1:111122223333:role/ci", "arn:aws:sts::111122223333:assumed-role/ci/x", "arn:aws:iam::11112222333٣:role/ci",
		"arn:aws:iam::111122223333:role/c i", "arn:aws:iam::111122223333:role/ci:x", "ARN:aws:iam::111122223333:role/ci", "arn::iam::111122223333:role/ci",
	} {
		_, err := parseRole(arn)
		assert.Error(t, err, "%q", arn)
	}
}

func TestSessionNames(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"as it is":                       {"ci-linux", "ci-linux"},
		"other characters become dashes": {"ci/linux:a b", "ci-linux-a-b"},
		"letters beyond ASCII, one each": {"ci-ünïx", "ci--n-x"},
		"one character is padded":        {"x", "x-"},
		"nothing is padded":              {"", "--"},
		"of 65 characters the last 64":   {"a" + strings.Repeat("b", 64), strings.Repeat("b", 64)},
		"what STS takes beside letters":  {"a_+=,.@-b", "a_+=,.@-b"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, sessionName(tc.in))
			assert.True(t, isSessionName(sessionName(tc.in)))
		})
	}
}
