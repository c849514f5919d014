// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"regexp"
	"strings"
)

// exampleAccount is what messages show as right.
const exampleAccount = "ci@acme-ci.iam.gserviceaccount.com"

// accountEmail is wider than most: there are service accounts of domain-scoped projects, of other universes, of App Engine and
// of Compute Engine beside those of "project.iam", and narrow patterns lock their users out.
var accountEmail = regexp.MustCompile(`^([a-z0-9](?:[a-z0-9.:-]*[a-z0-9])?)@((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+)gserviceaccount\.com$`)

// An account is a Google service account.
type account struct {
	email string
	// project is the id of the project that the account is in, as far as the e-mail tells it.
	project string
}

// parseAccount parses the e-mail of a Google service account. The error quotes it and shows a right one.
func parseAccount(email string) (account, error) {
	m := accountEmail.FindStringSubmatch(email)
	switch {
	case m != nil:
		return account{email: email, project: projectOf(m[1], m[2])}, nil
	case strings.Contains(email, "/serviceAccounts/"):
		return account{}, fmt.Errorf("%q is a resource name; write the e-mail at its end, such as %s", email, exampleAccount)
	case strings.HasPrefix(email, "serviceAccount:"):
		return account{}, fmt.Errorf("%q is an IAM member; write it without \"serviceAccount:\"", email)
	}
	return account{}, fmt.Errorf("%q is not the e-mail of a Google service account, such as %s", email, exampleAccount)
}

// projectOf reads the project out of an e-mail: name@PROJECT.iam. and PROJECT@appspot. tell it, 123-compute@developer. does not.
func projectOf(name, domain string) string {
	if domain == "appspot." {
		return scoped(name)
	}
	if project, ok := strings.CutSuffix(domain, ".iam."); ok {
		return scoped(project)
	}
	return ""
}

// scoped turns a project as e-mails write it, proj.example.com, into its id, example.com:proj.
func scoped(project string) string {
	name, scope, ok := strings.Cut(project, ".")
	if !ok {
		return project
	}
	return scope + ":" + name
}
