// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

// exampleRole is what messages show as right.
const exampleRole = "arn:aws:iam::111122223333:role/ci"

// maxARN is the longest RoleArn that STS takes.
const maxARN = 2048

// roleName is an optional path and a name, in the characters that IAM takes.
var roleName = regexp.MustCompile(`^([A-Za-z0-9_/.@+=,-]*/)?[A-Za-z0-9_.@+=,-]+$`)

// A role is the parsed ARN of an IAM role.
type role struct {
	partition partition
	account   string
	// name is the role's name without its path: what an assumed-role ARN shows.
	name string
	arn  string
}

// parseRole parses the ARN of an IAM role. The error quotes it and shows a right one.
func parseRole(arn string) (role, error) {
	if len(arn) > maxARN {
		return role{}, fmt.Errorf("is %d characters long, at most %d are taken", len(arn), maxARN)
	}
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "iam" || parts[3] != "" {
		return role{}, fmt.Errorf("%q is not the ARN of an IAM role, such as %s", arn, exampleRole)
	}
	p, ok := partitionNamed(parts[1])
	if !ok {
		return role{}, fmt.Errorf("%q: partition %q does not exist; there are %s", arn, parts[1], strings.Join(partitionNames(), ", "))
	}
	if !isAccount(parts[4]) {
		return role{}, fmt.Errorf("%q: account %q is not 12 digits, as in %s", arn, parts[4], exampleRole)
	}
	name, ok := strings.CutPrefix(parts[5], "role/")
	if !ok || !roleName.MatchString(name) {
		return role{}, fmt.Errorf("%q: %q is not role/NAME, as in %s", arn, parts[5], exampleRole)
	}
	return role{partition: p, account: parts[4], name: name[strings.LastIndex(name, "/")+1:], arn: arn}, nil
}

// isAccount reports whether s is an AWS account id.
func isAccount(s string) bool {
	return len(s) == 12 && strings.Trim(s, "0123456789") == ""
}

// providerARN is the ARN that IAM gives the OIDC provider of an issuer in the role's account.
func (r role) providerARN(issuer string) string {
	return fmt.Sprintf("arn:%s:iam::%s:oidc-provider/%s", r.partition.name, r.account, issuerKey(issuer))
}

// issuerKey is how IAM writes an issuer, in provider ARNs and as the prefix of condition keys: without the scheme.
func issuerKey(issuer string) string { return strings.TrimPrefix(issuer, "https://") }

// problem is one about a field of the aws settings.
func problem(field, format string, a ...any) identity.Problem {
	return identity.Problem{Field: "aws." + field, Message: fmt.Sprintf(format, a...)}
}
