// SPDX-License-Identifier: Apache-2.0

package identitytest

import (
	"fmt"
	"regexp"

	"github.com/runner-identity/runner-identity/identity"
)

// bareHost is a host with an optional port.
var bareHost = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?$`)

// checkRegistries is about hosts, and about the capabilities that a plan with hosts promises.
func checkRegistries(f *report, p identity.Provider, plan identity.Plan) {
	f.check(plan.Exchange.Audience == "" || plan.Exchange.Lifetime >= identity.MinTokenLifetime, RuleTokens,
		fmt.Sprintf("the token to exchange lives %s, the API server gives %s at least", plan.Exchange.Lifetime, identity.MinTokenLifetime))
	seen := map[string]identity.Target{}
	for _, reg := range plan.Registries {
		f.check(bareHost.MatchString(reg.Host), RuleRegistries, fmt.Sprintf("%q is not a bare host", reg.Host))
		f.check(seen[reg.Host]&reg.For == 0, RuleRegistries, fmt.Sprintf("%s is there twice", reg.Host))
		seen[reg.Host] |= reg.For
	}
	login, ok := identity.As[identity.RegistryLogin](p)
	if !ok {
		f.check(len(plan.Registries) == 0, RuleRegistries, "the plan has registries, and the provider is no RegistryLogin")
		return
	}
	f.check(len(plan.Registries) == 0 || plan.Exchange.Audience != "", RuleRegistries, "the plan has registries and no token to exchange for a login")
	f.check(!login.Serves(""), RuleRegistries, "it serves the empty host")
	for _, host := range plan.Hosts() {
		f.check(login.Serves(host), RuleRegistries, fmt.Sprintf("it does not serve %s of its own plan", host))
		f.check(!login.Serves("https://"+host), RuleRegistries, fmt.Sprintf("it serves https://%s, which is not a bare host", host))
		f.check(!login.Serves(host+"/team/image"), RuleRegistries, fmt.Sprintf("it serves %s/team/image, which is not a bare host", host))
	}
}
