// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A roleARN is the parts of a role's ARN.
type roleARN struct {
	partition, account string
	// name is without the role's path, as session ARNs have it.
	name string
}

func parseRoleARN(s string) (roleARN, bool) {
	m := regexp.MustCompile(`^arn:(aws[a-z-]*):iam::(\d{12}):role/([\w/+=,.@-]+)$`).FindStringSubmatch(s)
	if m == nil || path.Base(m[3]) == "/" {
		return roleARN{}, false
	}
	return roleARN{partition: m[1], account: m[2], name: path.Base(m[3])}, true
}

// session is the ARN of a session of the role.
func (r roleARN) session(name string) string {
	return fmt.Sprintf("arn:%s:sts::%s:assumed-role/%s/%s", r.partition, r.account, r.name, name)
}

// allows reports whether one of the patterns covers the action.
func allows(patterns []string, action string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, action); err == nil && ok {
			return true
		}
	}
	return false
}

// providerARN is the ARN of the OIDC provider for an issuer in the role's account.
func providerARN(r roleARN, issuer string) string {
	return fmt.Sprintf("arn:%s:iam::%s:oidc-provider/%s", r.partition, r.account, strings.TrimPrefix(issuer, "https://"))
}

// idOf is a unique id such as IAM gives a role, the same for the same ARN.
func idOf(arn string) string {
	sum := sha256.Sum256([]byte(arn))
	return base32.StdEncoding.EncodeToString(sum[:])[:17]
}
