// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"strings"
)

// configFile is an AWS config file in which the default profile is the last role of the chain, each role's source the
// one before it, and the first one's source the token.
func (s settings) configFile() string {
	var b strings.Builder
	last := len(s.roles) - 1
	for i := last; i >= 0; i-- {
		if i == last {
			b.WriteString("[default]\n")
		} else {
			fmt.Fprintf(&b, "\n[profile %s]\n", hop(i))
		}
		fmt.Fprintf(&b, "region = %s\nsts_regional_endpoints = regional\nrole_arn = %s\nrole_session_name = %s\n", s.Region, s.roles[i].arn, s.SessionName)
		if i == 0 {
			fmt.Fprintf(&b, "web_identity_token_file = %s\n", tokenFile)
		} else {
			fmt.Fprintf(&b, "source_profile = %s\n", hop(i-1))
		}
	}
	return b.String()
}

// hop names the profile of a role in the chain.
func hop(i int) string { return fmt.Sprintf("runner-identity-%d", i) }
