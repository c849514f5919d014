// SPDX-License-Identifier: Apache-2.0

package identitytest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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

// broken are providers by the promise that they break.
type broken = map[identitytest.Rule]map[string]identity.Provider

// badProviders has some for each rule.
func badProviders() broken {
	all := broken{}
	for _, some := range []broken{badBehaviour(), badPods(), badFiles(), badAnswers()} {
		maps.Copy(all, some)
	}
	return all
}

// badBehaviour are about how a plan comes about.
func badBehaviour() broken {
	var calls atomic.Int64
	shared := goodPlan()
	return broken{
		identitytest.RuleName: {
			"upper case": sample{name: func() string { return "AWS" }},
			"empty":      sample{name: func() string { return "" }},
			"changing":   sample{name: func() string { return "n" + strconv.FormatInt(calls.Add(1), 10) }},
		},
		identitytest.RulePlans: {
			"refuses a good request": sample{plan: func(identity.Request) (identity.Plan, error) {
				return identity.Plan{}, identity.Errorf(identity.Invalid, "sample.role: no")
			}},
			"finds a problem that Plan does not": sample{validate: func(identity.Request) []identity.Problem {
				return []identity.Problem{{Field: "sample.role", Message: "no"}}
			}},
		},
		identitytest.RuleDeterministic: {
			"counts": changed(func(p *identity.Plan) { p.Principal = strconv.FormatInt(calls.Add(1), 10) }),
			"follows the order of a map": changed(func(p *identity.Plan) {
				p.Env = nil
				for name := range maps.Keys(map[string]int{"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}) {
					p.Env = append(p.Env, identity.Env{Name: name, Value: "x", For: identity.Job})
				}
			}),
		},
		identitytest.RulePure: {
			"sorts the request's registries": sample{plan: func(r identity.Request) (identity.Plan, error) {
				slices.Sort(r.Registries)
				return goodPlan(), identity.Problems(sampleProblems(r))
			}},
			"returns a plan that it keeps": changed(func(p *identity.Plan) { *p = shared }),
		},
		identitytest.RuleJSON: {
			"has bytes that JSON replaces": changed(func(p *identity.Plan) { p.Files[0].Content = "caf\xe9" }),
		},
	}
}

// badPods are about what pods and accounts get.
func badPods() broken {
	env := func(e identity.Env) sample {
		e.For = identity.Job
		return changed(func(p *identity.Plan) { p.Env = append(p.Env, e) })
	}
	return broken{
		identitytest.RuleTargets: {
			"a variable for the runner, when only the job was named": changed(func(p *identity.Plan) { p.Env[0].For = identity.Both }),
			"a token for nobody":             changed(func(p *identity.Plan) { p.Tokens[0].For = 0 }),
			"an annotation for the runner":   changed(func(p *identity.Plan) { p.Accounts[0].For = identity.Runner }),
			"a pod label for the runner":     changed(func(p *identity.Plan) { p.Pods[0].For = identity.Runner }),
			"a file for the runner":          changed(func(p *identity.Plan) { p.Files[0].For = identity.Runner }),
			"a registry for the runner only": changed(func(p *identity.Plan) { p.Registries[0].For = identity.Runner }),
		},
		identitytest.RuleMetadata: {
			"annotation key with a blank": changed(func(p *identity.Plan) { p.Accounts[0].Annotations["a b"] = "x" }),
			"label value with a slash":    changed(func(p *identity.Plan) { p.Accounts[0].Labels["a"] = "x/y" }),
			"pod label key with a blank":  changed(func(p *identity.Plan) { p.Pods[0].Labels["a b"] = "x" }),
			"node selector with a colon":  changed(func(p *identity.Plan) { p.Pods[0].NodeSelector["a"] = "x:y" }),
		},
		identitytest.RuleEnv: {
			"name with a dash":                           env(identity.Env{Name: "A-B", Value: "x"}),
			"empty value, which breaks the SDKs' chains": env(identity.Env{Name: "AWS_PROFILE", Value: ""}),
			"HOME":                     env(identity.Env{Name: "HOME", Value: "/github/home"}),
			"DOCKER_HOST":              env(identity.Env{Name: "DOCKER_HOST", Value: "x"}),
			"a RUNNER_ variable":       env(identity.Env{Name: "RUNNER_TOKEN", Value: "x"}),
			"an ACTIONS_ variable":     env(identity.Env{Name: "ACTIONS_RUNNER_CONTAINER_HOOKS", Value: "x"}),
			"a GITHUB_ variable":       env(identity.Env{Name: "GITHUB_TOKEN", Value: "x"}),
			"a NUL byte":               env(identity.Env{Name: "A", Value: "x\x00"}),
			"a kubelet expansion $(A)": env(identity.Env{Name: "A", Value: "$(B)"}),
		},
	}
}

// badFiles are about files, tokens and registries.
func badFiles() broken {
	token := func(change func(*identity.Token)) sample {
		return changed(func(p *identity.Plan) { change(&p.Tokens[0]) })
	}
	return broken{
		identitytest.RuleTokens: {
			"no audience":                  token(func(t *identity.Token) { t.Audience = "" }),
			"9 minutes":                    token(func(t *identity.Token) { t.Lifetime = 9 * time.Minute }),
			"relative path":                token(func(t *identity.Token) { t.Path = "token" }),
			"absolute path without volume": token(func(t *identity.Token) { t.Path = "/var/run/x/token" }),
			"path with dots":               token(func(t *identity.Token) { t.Path, t.Volume = "/var/run/../token", "v" }),
			"path in the root":             token(func(t *identity.Token) { t.Path, t.Volume = "/token", "v" }),
			"Dir with a volume":            token(func(t *identity.Token) { t.Volume = "v" }),
			"volume name in upper case":    token(func(t *identity.Token) { t.Path, t.Volume = "/var/run/x/token", "V" }),
			"a short exchange":             changed(func(p *identity.Plan) { p.Exchange.Lifetime = time.Minute }),
		},
		identitytest.RuleFiles: {
			"absolute path":    changed(func(p *identity.Plan) { p.Files[0].Path = "/etc/passwd" }),
			"path that climbs": changed(func(p *identity.Plan) { p.Files[0].Path = identity.Dir + "/../x" }),
			"the directory":    changed(func(p *identity.Plan) { p.Files[0].Path = identity.Dir }),
		},
		identitytest.RuleDirs: {
			"a relative path":      changed(func(p *identity.Plan) { p.Dirs[0].Path = "cloud" }),
			"a path in the root":   changed(func(p *identity.Plan) { p.Dirs[0].Path = "/cloud" }),
			"no volume":            changed(func(p *identity.Plan) { p.Dirs[0].Volume = "" }),
			"below identity's dir": changed(func(p *identity.Plan) { p.Dirs[0].Path = identity.Dir + "/cloud" }),
		},
		identitytest.RuleWaits: {
			"no name":              changed(func(p *identity.Plan) { p.Waits[0].Name = "" }),
			"a file URL":           changed(func(p *identity.Plan) { p.Waits[0].URL = "file:///etc/passwd" }),
			"a password in it":     changed(func(p *identity.Plan) { p.Waits[0].URL = "http://u:p@169.254.169.254/" }),
			"no host":              changed(func(p *identity.Plan) { p.Waits[0].URL = "http:///x" }),
			"a name of 41 letters": changed(func(p *identity.Plan) { p.Waits[0].Name = strings.Repeat("a", 41) }),
		},
		identitytest.RuleUnique: {
			"a directory twice":        changed(func(p *identity.Plan) { p.Dirs = append(p.Dirs, p.Dirs[0]) }),
			"a wait twice":             changed(func(p *identity.Plan) { p.Waits = append(p.Waits, p.Waits[0]) }),
			"a directory on a token's": changed(func(p *identity.Plan) { p.Tokens = []identity.Token{at("/var/run/cloud/x", "v")} }),
			"a variable twice":         changed(func(p *identity.Plan) { p.Env = append(p.Env, p.Env[0]) }),
			"a file twice":             changed(func(p *identity.Plan) { p.Files = append(p.Files, p.Files[0]) }),
			"a token over a file":      token(func(t *identity.Token) { t.Path = identity.Dir + "/t/config" }),
			"two volumes at a path":    changed(func(p *identity.Plan) { p.Tokens = []identity.Token{at("/a/x", "v"), at("/a/y", "w")} }),
			"a volume at two paths":    changed(func(p *identity.Plan) { p.Tokens = []identity.Token{at("/a/x", "v"), at("/b/y", "v")} }),
		},
		identitytest.RuleRegistries: {
			"host with a scheme":          changed(func(p *identity.Plan) { p.Registries[0].Host = "https://registry.example.com" }),
			"host twice":                  changed(func(p *identity.Plan) { p.Registries = append(p.Registries, p.Registries[0]) }),
			"host that it does not serve": changed(func(p *identity.Plan) { p.Registries[0].Host = "other.example.com" }),
			"no exchange":                 changed(func(p *identity.Plan) { p.Exchange = identity.Exchange{} }),
			"serves everything":           sample{serves: func(string) bool { return true }},
			"serves URLs":                 sample{serves: func(h string) bool { return h != "" }},
			"cannot log in":               struct{ identity.Provider }{sample{}},
		},
	}
}

// badAnswers are about secrets, trust documents and refusals.
func badAnswers() broken {
	var calls atomic.Int64
	return broken{
		identitytest.RuleSecrets: {
			"a token in a file":           changed(func(p *identity.Plan) { p.Files[0].Content = "eyJhbGciOiJSUzI1.eyJpc3MiOiJodHRw.c2ln" }),
			"a private key in a file":     changed(func(p *identity.Plan) { p.Files[0].Content = "-----BEGIN RSA PRIVATE KEY-----" }),
			"an access key in a variable": changed(func(p *identity.Plan) { p.Env[0].Value = "ASIAABCDEFGHIJKLMNOP" }),
			"the case's own secret":       changed(func(p *identity.Plan) { p.Env[0].Value = "x hunter2-hunter2 y" }),
			"a secret in a home directory": sample{home: func() []identity.File {
				return []identity.File{{Path: ".cloud", Content: "hunter2-hunter2"}}
			}},
			"a secret in a trust document": sample{trust: func() identity.Trust {
				return identity.Trust{Documents: []identity.Document{{Title: "t", Body: "hunter2-hunter2"}}}
			}},
		},
		identitytest.RuleTrust: {
			"no document":         sample{trust: func() identity.Trust { return identity.Trust{} }},
			"a document untitled": sample{trust: func() identity.Trust { return identity.Trust{Documents: []identity.Document{{Body: "x"}}} }},
			"changing a document ": sample{trust: func() identity.Trust {
				return identity.Trust{Documents: []identity.Document{{Title: "x", Body: strconv.FormatInt(calls.Add(1), 10)}}}
			}},
		},
		identitytest.RuleHome: {
			"an absolute path":         homeWith("/root/.cloud"),
			"a path that leaves":       homeWith("../.cloud"),
			"the home itself":          homeWith("."),
			"a path that is not clean": homeWith(".cloud//config"),
			"a path twice":             homeWith(".cloud", ".cloud"),
			"changing files": sample{home: func() []identity.File {
				return []identity.File{{Path: ".cloud", Content: strconv.FormatInt(calls.Add(1), 10)}}
			}},
		},
		identitytest.RuleRefusal: {
			"takes anything": sample{plan: func(identity.Request) (identity.Plan, error) { return goodPlan(), nil }},
			"does not name the field": sample{plan: func(r identity.Request) (identity.Plan, error) {
				if len(sampleProblems(r)) > 0 {
					return identity.Plan{}, identity.Errorf(identity.Invalid, "something is wrong")
				}
				return goodPlan(), nil
			}},
			"would be retried": sample{plan: func(r identity.Request) (identity.Plan, error) {
				if len(sampleProblems(r)) > 0 {
					return identity.Plan{}, identity.Errorf(identity.Unreachable, "sample.role: no")
				}
				return goodPlan(), nil
			}},
			"validates nothing": sample{validate: func(identity.Request) []identity.Problem { return nil }},
		},
		identitytest.RuleUnknown: {
			"ignores a typing error": sample{plan: func(r identity.Request) (identity.Plan, error) {
				if string(r.Settings) == "{}" {
					return identity.Plan{}, identity.Errorf(identity.Invalid, "sample.role: no")
				}
				return goodPlan(), nil
			}},
		},
	}
}

func at(path, volume string) identity.Token {
	return identity.Token{Path: path, Volume: volume, Audience: "a", Lifetime: time.Hour, For: identity.Job}
}

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
