// SPDX-License-Identifier: Apache-2.0

package identitytest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/runner-identity/runner-identity/identity"
)

// repeats is how often a plan is asked for: Go's maps give their order away within a few rounds.
const repeats = 16

// checkGood is about a good request: that it gets a plan, how the plan comes about, and what is in it.
func checkGood(f *report, p identity.Provider, c Case) {
	plan, err := p.Plan(clone(c.Request))
	if err != nil {
		f.add(RulePlans, err.Error())
		return
	}
	if v, ok := identity.As[identity.Validator](p); ok {
		problems := v.Validate(clone(c.Request))
		f.check(len(problems) == 0, RulePlans, fmt.Sprintf("Validate finds %v, and Plan does not", problems))
	}
	checkRepeats(f, p, c)
	checkPure(f, p, c)
	checkJSON(f, plan)
	checkUnknown(f, p, c)
	checkTrust(f, p, c)
	checkHome(f, p, c)
	checkSecrets(f, text(plan), c.Secrets)
	checkPlan(f, p, plan, c.Request)
}

// checkRepeats asks for the same plan many times at once.
func checkRepeats(f *report, p identity.Provider, c Case) {
	plans := make([]string, repeats)
	var wait sync.WaitGroup
	for i := range plans {
		wait.Go(func() {
			plan, err := p.Plan(clone(c.Request))
			plans[i] = fmt.Sprint(text(plan), err)
		})
	}
	wait.Wait()
	for _, other := range plans {
		if other != plans[0] {
			f.add(RuleDeterministic, fmt.Sprintf("one is %s, another %s", plans[0], other))
			return
		}
	}
}

// checkPure looks whether the request is as it was, and whether a plan can be changed without changing the next one.
func checkPure(f *report, p identity.Provider, c Case) {
	given := clone(c.Request)
	plan, _ := p.Plan(given)
	f.check(reflect.DeepEqual(given, clone(c.Request)), RulePure, "the request was modified")
	before := text(plan)
	spoil(plan)
	again, _ := p.Plan(clone(c.Request))
	f.check(text(again) == before, RulePure, "changing a plan changes the next one: they share a slice or a map")
}

// spoil overwrites everything in a plan that could be shared.
func spoil(p identity.Plan) {
	const spoiled = "spoiled"
	for _, m := range mapsOf(p) {
		for k := range m {
			m[k] = spoiled
		}
	}
	clear(p.Accounts)
	clear(p.Pods)
	clear(p.Tokens)
	clear(p.Files)
	clear(p.Dirs)
	clear(p.Waits)
	clear(p.Env)
	clear(p.Registries)
}

// mapsOf are all maps in a plan.
func mapsOf(p identity.Plan) []map[string]string {
	var all []map[string]string
	for _, a := range p.Accounts {
		all = append(all, a.Annotations, a.Labels)
	}
	for _, pod := range p.Pods {
		all = append(all, pod.Annotations, pod.Labels, pod.NodeSelector)
	}
	for _, w := range p.Waits {
		all = append(all, w.Header)
	}
	return all
}

func checkJSON(f *report, plan identity.Plan) {
	var back identity.Plan
	if err := json.Unmarshal([]byte(text(plan)), &back); err != nil {
		f.add(RuleJSON, err.Error())
		return
	}
	// Semantic takes an empty list for none, as JSON does.
	f.check(equality.Semantic.DeepEqual(back, plan), RuleJSON, fmt.Sprintf("%s comes back as %s", text(plan), text(back)))
}

// text is a value as JSON, for comparison and search.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
