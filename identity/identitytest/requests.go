// SPDX-License-Identifier: Apache-2.0

package identitytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runner-identity/runner-identity/identity"
)

// checkName is about the provider's name.
func checkName(f *report, p identity.Provider) {
	name := p.Name()
	f.check(len(validation.IsDNS1123Label(name)) == 0, RuleName, fmt.Sprintf("%q is not a lower-case DNS label", name))
	f.check(p.Name() == name, RuleName, fmt.Sprintf("%q at first, then %q", name, p.Name()))
}

// checkCases is about the cases themselves.
func checkCases(f *report, cases []Case) {
	isBad := func(c Case) bool { return c.WantProblem != "" }
	isGood := func(c Case) bool { return c.WantProblem == "" }
	f.check(slices.ContainsFunc(cases, isGood), RuleCases, "none has a good request")
	f.check(slices.ContainsFunc(cases, isBad), RuleCases, "none has a bad request (WantProblem)")
	seen := map[string]bool{}
	for _, c := range cases {
		f.check(c.Name != "" && !seen[c.Name], RuleCases, fmt.Sprintf("name %q is empty or there twice", c.Name))
		seen[c.Name] = true
	}
}

// checkRefusal is about a bad request.
func checkRefusal(f *report, p identity.Provider, c Case) {
	_, err := p.Plan(clone(c.Request))
	if err == nil {
		f.add(RuleRefusal, fmt.Sprintf("Plan takes it; wanted a problem with %s", c.WantProblem))
		return
	}
	f.check(strings.Contains(err.Error(), c.WantProblem), RuleRefusal, fmt.Sprintf("Plan does not name %s: %v", c.WantProblem, err))
	f.check(identity.ReasonOf(err) == identity.Invalid, RuleRefusal, fmt.Sprintf("Plan's error has reason %s, wanted %s", identity.ReasonOf(err), identity.Invalid))
	if v, ok := identity.As[identity.Validator](p); ok {
		problems := v.Validate(clone(c.Request))
		named := func(pr identity.Problem) bool { return pr.Field == c.WantProblem && pr.Message != "" }
		f.check(slices.ContainsFunc(problems, named), RuleRefusal, fmt.Sprintf("Validate finds %v, wanted a problem with field %s and a message", problems, c.WantProblem))
	}
}

// unknownSetting is a setting that no provider has.
const unknownSetting = "identitytestUnknownSetting"

// checkUnknown adds an unknown setting to a good request: a typing error must not be a setting that is silently not there.
func checkUnknown(f *report, p identity.Provider, c Case) {
	settings := map[string]any{}
	if len(c.Request.Settings) > 0 {
		if err := json.Unmarshal(c.Request.Settings, &settings); err != nil {
			f.add(RuleCases, fmt.Sprintf("settings are not a JSON object: %v", err))
			return
		}
	}
	settings[unknownSetting] = "x"
	r := clone(c.Request)
	r.Settings, _ = json.Marshal(settings)
	_, err := p.Plan(r)
	if err == nil {
		f.add(RuleUnknown, "Plan takes a setting called "+unknownSetting)
		return
	}
	f.check(strings.Contains(err.Error(), unknownSetting), RuleUnknown, fmt.Sprintf("Plan does not name %s: %v", unknownSetting, err))
	f.check(identity.ReasonOf(err) == identity.Invalid, RuleUnknown, fmt.Sprintf("Plan's error has reason %s, wanted %s", identity.ReasonOf(err), identity.Invalid))
}

// clone copies a request so that no slice is shared.
func clone(r identity.Request) identity.Request {
	r.Registries = slices.Clone(r.Registries)
	r.ImageHosts = slices.Clone(r.ImageHosts)
	r.Settings = slices.Clone(r.Settings)
	return r
}
