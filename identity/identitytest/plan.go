// SPDX-License-Identifier: Apache-2.0

package identitytest

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/runner-identity/runner-identity/identity"
)

// maxWaitName leaves room for what podspec puts before it in a container's name.
const maxWaitName = 40

// checkPlan is about what is in a plan.
func checkPlan(f *report, p identity.Provider, plan identity.Plan, r identity.Request) {
	checkTargets(f, plan, r)
	checkMetadata(f, plan)
	for _, e := range plan.Env {
		checkEnv(f, e)
	}
	for _, t := range plan.Tokens {
		checkToken(f, t)
	}
	for _, file := range plan.Files {
		f.check(inDir(file.Path), RuleFiles, fmt.Sprintf("path %q is not a clean path below %s", file.Path, identity.Dir))
	}
	for _, d := range plan.Dirs {
		checkDir(f, d)
	}
	for _, w := range plan.Waits {
		checkWait(f, w)
	}
	checkUnique(f, plan)
	checkRegistries(f, p, plan)
}

// checkTargets looks for parts that are for nobody, or for somebody whom the request does not name: a runner that may
// create pods must not get the job's identity by the way.
func checkTargets(f *report, plan identity.Plan, r identity.Request) {
	one := func(what string, t identity.Target) {
		f.check(t != 0 && r.Targets.Has(t), RuleTargets, fmt.Sprintf("%s is for %s, the request is for %s", what, t, r.Targets))
	}
	for _, a := range plan.Accounts {
		one("account metadata", a.For)
	}
	for _, pod := range plan.Pods {
		one("pod metadata", pod.For)
	}
	for _, t := range plan.Tokens {
		one("token "+t.Path, t.For)
	}
	for _, file := range plan.Files {
		one("file "+file.Path, file.For)
	}
	for _, d := range plan.Dirs {
		one("directory "+d.Path, d.For)
	}
	for _, w := range plan.Waits {
		one("wait "+w.Name, w.For)
	}
	for _, e := range plan.Env {
		one("variable "+e.Name, e.For)
	}
	for _, reg := range plan.Registries {
		one("registry "+reg.Host, reg.For)
	}
}

func checkMetadata(f *report, plan identity.Plan) {
	metadata := func(m identity.Metadata) {
		for k := range m.Annotations {
			f.check(isKey(k), RuleMetadata, fmt.Sprintf("annotation key %q", k))
		}
		checkLabels(f, m.Labels)
	}
	for _, a := range plan.Accounts {
		metadata(a)
	}
	for _, pod := range plan.Pods {
		metadata(pod.Metadata)
		checkLabels(f, pod.NodeSelector)
	}
}

func checkLabels(f *report, labels map[string]string) {
	for k, v := range labels {
		f.check(isKey(k), RuleMetadata, fmt.Sprintf("label key %q", k))
		f.check(len(validation.IsValidLabelValue(v)) == 0, RuleMetadata, fmt.Sprintf("label %s has value %q", k, v))
	}
}

// isKey follows the API server, which takes annotation keys in any case and label keys too.
func isKey(k string) bool { return len(validation.IsQualifiedName(k)) == 0 }

// checkEnv is about one variable.
func checkEnv(f *report, e identity.Env) {
	f.check(len(validation.IsCIdentifier(e.Name)) == 0, RuleEnv, fmt.Sprintf("%q is not a name that every shell takes", e.Name))
	f.check(!isReserved(e.Name), RuleEnv, fmt.Sprintf("%s belongs to the runner, to docker or to the image", e.Name))
	// Some SDKs take a variable that is set and empty for one that is set.
	f.check(e.Value != "", RuleEnv, fmt.Sprintf("%s is empty", e.Name))
	f.check(!strings.ContainsRune(e.Value, 0), RuleEnv, fmt.Sprintf("%s has a NUL byte", e.Name))
	// The kubelet replaces $(NAME) in values.
	f.check(!strings.Contains(e.Value, "$("), RuleEnv, fmt.Sprintf("%s has $( in its value, which the kubelet expands", e.Name))
}

// isReserved reports whether a variable is one that the runner, its container hook, docker or the image sets.
func isReserved(name string) bool {
	switch name {
	case "HOME", "PATH", "USER", "PWD", "SHELL", "CI", "DOCKER_HOST", "LD_PRELOAD", "LD_LIBRARY_PATH":
		return true
	}
	for _, prefix := range []string{"RUNNER_", "GITHUB_", "ACTIONS_", "KUBERNETES_"} {
		if strings.HasPrefix(strings.ToUpper(name), prefix) {
			return true
		}
	}
	return false
}

// checkToken is about one token.
func checkToken(f *report, t identity.Token) {
	f.check(t.Audience != "", RuleTokens, fmt.Sprintf("%s has no audience", t.Path))
	f.check(t.Lifetime >= identity.MinTokenLifetime, RuleTokens, fmt.Sprintf("%s lives %s, the API server gives %s at least", t.Path, t.Lifetime, identity.MinTokenLifetime))
	if inDir(t.Path) {
		f.check(t.Volume == "", RuleTokens, fmt.Sprintf("%s is below %s and names volume %q", t.Path, identity.Dir, t.Volume))
		return
	}
	f.check(path.IsAbs(t.Path) && path.Clean(t.Path) == t.Path && path.Dir(t.Path) != "/", RuleTokens,
		fmt.Sprintf("path %q is neither below %s nor a clean absolute one in a directory of its own", t.Path, identity.Dir))
	f.check(len(validation.IsDNS1123Label(t.Volume)) == 0, RuleTokens, fmt.Sprintf("%s is in volume %q, which is not a DNS label", t.Path, t.Volume))
}

// checkDir is about one writable directory.
func checkDir(f *report, d identity.EmptyDir) {
	f.check(path.IsAbs(d.Path) && path.Clean(d.Path) == d.Path && path.Dir(d.Path) != "/", RuleDirs,
		fmt.Sprintf("path %q is not a clean absolute one below a directory of the image", d.Path))
	f.check(len(validation.IsDNS1123Label(d.Volume)) == 0, RuleDirs, fmt.Sprintf("%s is in volume %q, which is not a DNS label", d.Path, d.Volume))
}

// checkWait is about one wait.
func checkWait(f *report, w identity.Wait) {
	f.check(len(validation.IsDNS1123Label(w.Name)) == 0 && len(w.Name) <= maxWaitName, RuleWaits,
		fmt.Sprintf("%q is not a DNS label of at most %d characters", w.Name, maxWaitName))
	u, err := url.Parse(w.URL)
	f.check(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil, RuleWaits,
		fmt.Sprintf("wait %s: %q is not an HTTP address without credentials", w.Name, w.URL))
}

// inDir reports whether a path is a clean one below the identity directory.
func inDir(p string) bool {
	rest, ok := strings.CutPrefix(p, identity.Dir+"/")
	return ok && path.Clean("/"+rest) == "/"+rest && rest != "" && !strings.Contains(rest, identity.Dir)
}
