// SPDX-License-Identifier: Apache-2.0

package identitytest_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/identity/identitytest"
)

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
