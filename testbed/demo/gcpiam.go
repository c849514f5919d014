// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
	gcpsim "github.com/runner-identity/runner-identity/testbed/gcp"
)

// alternative begins the title of documents to run in place of others, and not beside them.
const alternative = "In place of"

// obey is Google after somebody ran the commands that the trust command prints. keys is where the keys of the cluster's issuer
// are: the cluster's issuer is not on the internet. A command that it does not know is an error: it would let in who is not let
// in by the commands, or keep out who is.
func obey(t identity.Trust, keys gcpsim.Provider) (gcpsim.Config, error) {
	c := gcpsim.Config{ServiceAccounts: map[string]gcpsim.ServiceAccount{}, Repositories: map[string]gcpsim.Repository{}}
	for _, d := range t.Documents {
		if strings.HasPrefix(d.Title, alternative) {
			continue
		}
		for line := range strings.Lines(d.Body) {
			if err := parseGcloud(strings.TrimSpace(line)).run(&c, keys); err != nil {
				return gcpsim.Config{}, err
			}
		}
	}
	return c, nil
}

// A gcloud is a parsed command of gcloud: gcloud VERB OBJECT --FLAG VALUE...
type gcloud struct {
	verb, object string
	flags        map[string]string
}

var gcloudFlag = regexp.MustCompile(` --([a-z-]+) ("[^"]*"|'[^']*'|\S+)`)

func parseGcloud(line string) gcloud {
	c := gcloud{flags: map[string]string{}}
	for _, m := range gcloudFlag.FindAllStringSubmatch(line, -1) {
		c.flags[m[1]] = strings.Trim(m[2], `"'`)
	}
	words, _, _ := strings.Cut(line, " --")
	i := strings.LastIndex(words, " ")
	c.verb, c.object = words[:max(i, 0)], words[i+1:]
	return c
}

// run does to the config what the command does to Google.
func (g gcloud) run(c *gcpsim.Config, keys gcpsim.Provider) error {
	switch g.verb {
	case "gcloud iam workload-identity-pools create": // The pool is a part of its providers' names.
	case "gcloud iam workload-identity-pools providers create-oidc":
		p := keys
		p.Name = fmt.Sprintf("projects/%s/locations/%s/workloadIdentityPools/%s/providers/%s", g.flags["project"], g.flags["location"], g.flags["workload-identity-pool"], g.object)
		p.Issuer = g.flags["issuer-uri"]
		if audiences := g.flags["allowed-audiences"]; audiences != "" {
			p.Audiences = strings.Split(audiences, ",")
		}
		c.Providers = append(c.Providers, p)
	case "gcloud iam service-accounts add-iam-policy-binding":
		account := c.ServiceAccounts[g.object]
		if g.flags["role"] == "roles/iam.workloadIdentityUser" {
			account.WorkloadIdentityUsers = append(account.WorkloadIdentityUsers, g.flags["member"])
		}
		c.ServiceAccounts[g.object] = account
	case "gcloud artifacts repositories add-iam-policy-binding":
		name := fmt.Sprintf("projects/%s/locations/%s/repositories/%s", g.flags["project"], g.flags["location"], g.object)
		bindings := c.Repositories[name].Bindings
		if bindings == nil {
			bindings = map[string][]string{}
		}
		bindings[g.flags["role"]] = append(bindings[g.flags["role"]], g.flags["member"])
		c.Repositories[name] = gcpsim.Repository{Bindings: bindings}
	default:
		return fmt.Errorf("the simulated Google cannot run %q %q: the demo knows what trust prints for mode Federation with a workload identity pool", g.verb, g.object)
	}
	return nil
}
