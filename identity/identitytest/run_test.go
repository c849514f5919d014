// SPDX-License-Identifier: Apache-2.0

package identitytest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/identitytest"
)

// sample is a provider that keeps all promises. Each field breaks one of them.
type sample struct {
	name     func() string
	change   func(*identity.Plan)
	plan     func(identity.Request) (identity.Plan, error)
	validate func(identity.Request) []identity.Problem
	serves   func(string) bool
	trust    func() identity.Trust
	home     func() []identity.File
}

type sampleSettings struct {
	Role string `json:"role"`
}

func (s sample) Name() string {
	if s.name != nil {
		return s.name()
	}
	return "sample"
}

func (s sample) Plan(r identity.Request) (identity.Plan, error) {
	if s.plan != nil {
		return s.plan(r)
	}
	if err := identity.Problems(sampleProblems(r)); err != nil {
		return identity.Plan{}, err
	}
	p := goodPlan()
	if s.change != nil {
		s.change(&p)
	}
	return p, nil
}

func (s sample) Validate(r identity.Request) []identity.Problem {
	if s.validate != nil {
		return s.validate(r)
	}
	return sampleProblems(r)
}

func (s sample) Serves(host string) bool {
	if s.serves != nil {
		return s.serves(host)
	}
	return host == "registry.example.com"
}

func (sample) Login(context.Context, string, identity.Secret, identity.Request) (identity.Credential, error) {
	return identity.Credential{}, errors.New("the suite asks no cloud")
}

func (s sample) Trust(identity.Request) (identity.Trust, error) {
	if s.trust != nil {
		return s.trust(), nil
	}
	return identity.Trust{Documents: []identity.Document{{Title: "Role", Body: "allow"}}}, nil
}

func (s sample) HomeFiles(identity.Request) ([]identity.File, error) {
	if s.home != nil {
		return s.home(), nil
	}
	return []identity.File{{Path: ".cloud/config", Content: "x", For: identity.Job}}, nil
}

func homeWith(paths ...string) sample {
	return sample{home: func() []identity.File {
		var files []identity.File
		for _, p := range paths {
			files = append(files, identity.File{Path: p})
		}
		return files
	}}
}

func sampleProblems(r identity.Request) []identity.Problem {
	var s sampleSettings
	if err := r.Settings.Decode(&s); err != nil {
		return []identity.Problem{{Field: "sample", Message: err.Error()}}
	}
	if s.Role == "" {
		return []identity.Problem{{Field: "sample.role", Message: "is not set; set it to a role"}}
	}
	return nil
}

func goodPlan() identity.Plan {
	return identity.Plan{
		Principal:  "role",
		Accounts:   []identity.Metadata{{Annotations: map[string]string{"example.com/role": "r"}, Labels: map[string]string{"example.com/l": "v"}, For: identity.Job}},
		Tokens:     []identity.Token{{Path: identity.Dir + "/t/token", Audience: "a", Lifetime: time.Hour, For: identity.Job}},
		Files:      []identity.File{{Path: identity.Dir + "/t/config", Content: "x", For: identity.Job}},
		Dirs:       []identity.EmptyDir{{Path: "/var/run/cloud", Volume: "cloud", For: identity.Job}},
		Waits:      []identity.Wait{{Name: "node", URL: "http://169.254.169.254/x", Header: map[string]string{"a": "b"}, For: identity.Job}},
		Env:        []identity.Env{{Name: "CLOUD_ROLE", Value: "r", For: identity.Job}},
		Registries: []identity.Registry{{Host: "registry.example.com", For: identity.Job}},
		Pods:       []identity.PodMetadata{{Metadata: identity.Metadata{Labels: map[string]string{"a": "b"}, For: identity.Job}, NodeSelector: map[string]string{"c": "d"}}},
		Exchange:   identity.Exchange{Audience: "a", Lifetime: time.Hour},
	}
}

func sampleCases() []identitytest.Case {
	return []identitytest.Case{
		{Name: "a job with a role", Request: identity.Request{
			Namespace: "ci", Name: "linux", Accounts: identity.Accounts{Runner: "linux-runner", Job: "linux-job"}, Targets: identity.Job,
			Registries: []string{"b.example.com", "a.example.com"}, Settings: identity.Settings(`{"role":"r"}`),
		}, Secrets: []string{"hunter2-hunter2"}},
		{Name: "no role", Request: identity.Request{Targets: identity.Job, Settings: identity.Settings(`{}`)}, WantProblem: "sample.role"},
	}
}

func TestAProviderThatKeepsAllPromisesPasses(t *testing.T) {
	identitytest.Run(t, sample{}, sampleCases()...)
}

// wrapped hides its provider's capabilities behind Unwrap, as a decorator for metrics does.
type wrapped struct{ identity.Provider }

func (w wrapped) Unwrap() identity.Provider { return w.Provider }

func TestCapabilitiesAreFoundThroughWrappers(t *testing.T) {
	assert.Empty(t, identitytest.Check(wrapped{sample{}}, sampleCases()...))
	deaf := sample{serves: func(string) bool { return false }}
	assert.NotEmpty(t, identitytest.Check(wrapped{deaf}, sampleCases()...))
}

// changed is a provider whose plan is changed before it is returned.
func changed(change func(*identity.Plan)) sample { return sample{change: change} }

func TestEachBrokenPromiseIsReportedByItsRule(t *testing.T) {
	for rule, providers := range badProviders() {
		for name, p := range providers {
			t.Run(string(rule)+"/"+name, func(t *testing.T) {
				assert.Contains(t, rules(identitytest.Check(p, sampleCases()...)), rule)
			})
		}
	}
}

func TestThereIsABadProviderForEachRule(t *testing.T) {
	bad := badProviders()
	for _, rule := range identitytest.Rules() {
		if rule == identitytest.RuleCases {
			continue // about the cases: TestCasesThatCheckNothingAreReported
		}
		assert.NotEmpty(t, bad[rule], rule)
	}
}

func TestCasesThatCheckNothingAreReported(t *testing.T) {
	good, bad := sampleCases()[0], sampleCases()[1]
	unnamed := good
	unnamed.Name = ""
	for name, cases := range map[string][]identitytest.Case{
		"no cases":   nil,
		"none bad":   {good},
		"none good":  {bad},
		"no name":    {unnamed, bad},
		"name twice": {good, good, bad},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, rules(identitytest.Check(sample{}, cases...)), identitytest.RuleCases)
		})
	}
}

func TestAViolationNamesItsCase(t *testing.T) {
	empty := changed(func(p *identity.Plan) { p.Env[0].Value = "" })
	found := identitytest.Check(empty, sampleCases()...)
	require.Len(t, found, 1)
	assert.Equal(t, "a job with a role: "+string(identitytest.RuleEnv)+": CLOUD_ROLE is empty", found[0].String())
}

func rules(violations []identitytest.Violation) []identitytest.Rule {
	var all []identitytest.Rule
	for _, v := range violations {
		all = append(all, v.Rule)
	}
	return all
}
