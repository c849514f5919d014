// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/runner-identity/runner-identity/agent"
	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/podspec"
)

// The agent's tokens, below the directory that its container alone has.
const (
	exchangeToken = "agent/exchange"
	carriedDir    = "agent/job"
)

// agentPlan is the agent's part of a runner pod; nil if the identity does not go by the work volume, which with a docker daemon it
// always does. In such a pod everything runs as the runner's account, jobs too: there are no job pods.
func agentPlan(in Input, r Resolved) (*v1alpha1.AgentPlan, error) {
	if in.Identity.Spec.Identity.Delivery != v1alpha1.DeliveryWorkVolume || !r.Request.Targets.Has(identity.Runner) {
		return nil, nil
	}
	p := &v1alpha1.AgentPlan{Image: in.Image, Registries: agentHosts(r), WorkVolume: true}
	config := agent.Config{}
	if len(p.Registries) > 0 {
		config.Provider, config.Request, config.Hosts = r.Provider.Name(), asRunner(r.Request), p.Registries
		config.Token = path.Join(podspec.IdentityDir, exchangeToken)
		p.Tokens = append(p.Tokens, projection(exchangeToken, r.Plan.Exchange.Audience, r.Plan.Exchange.Lifetime.Seconds()))
	}
	if err := carry(r, p, &config); err != nil {
		return nil, err
	}
	b, err := json.Marshal(config)
	p.Config = string(b)
	return p, err
}

// agentHosts are the registries that the runner's own token can be traded for.
func agentHosts(r Resolved) []string {
	if _, ok := identity.As[identity.RegistryLogin](r.Provider); !ok || r.Plan.Exchange.Audience == "" {
		return nil
	}
	forRunner := slices.DeleteFunc(slices.Clone(r.Plan.Registries), func(h identity.Registry) bool { return !h.For.Has(identity.Runner) })
	return identity.Plan{Registries: forRunner}.Hosts()
}

// asRunner is a request whose account is the runner's: that is whose token the agent has.
func asRunner(r identity.Request) identity.Request {
	r.Targets = identity.Runner
	return r
}

// asJob is a request for a job that runs as the runner's account.
func asJob(r identity.Request) identity.Request {
	r.Targets, r.Accounts.Job = identity.Job, r.Accounts.Runner
	return r
}

// carry fills in what jobs' containers get: the job's plan, with its tokens made in the agent's container and its files where the
// agent puts them.
func carry(r Resolved, p *v1alpha1.AgentPlan, config *agent.Config) error {
	request := asJob(r.Request)
	plan, err := r.Provider.Plan(request)
	if err != nil {
		return err
	}
	plan = plan.At(podspec.JobDir)
	var moved []string
	for i, t := range plan.Tokens {
		from, to := path.Join(carriedDir, strconv.Itoa(i)), t.Path
		if !strings.HasPrefix(to, podspec.JobDir+"/") {
			to = fmt.Sprintf("%s/tokens/%d", podspec.JobDir, i)
			moved = append(moved, t.Path, to)
		}
		p.Tokens = append(p.Tokens, projection(from, t.Audience, t.Lifetime.Seconds()))
		config.Job.Tokens = append(config.Job.Tokens, agent.Token{From: path.Join(podspec.IdentityDir, from), Path: below(to)})
	}
	at := strings.NewReplacer(append(moved, identity.Dir, podspec.JobDir)...)
	for _, f := range plan.Files {
		config.Job.Files = append(config.Job.Files, agent.File{Path: below(f.Path), Content: at.Replace(f.Content)})
	}
	config.Job.Env = carriedEnv(plan, at)
	return carryHome(r.Provider, request, config, at)
}

// carriedEnv are the plan's variables. Those that name an empty directory of the pod's are left out: tools then use the home
// directory, which a container has, and the directory not.
func carriedEnv(plan identity.Plan, at *strings.Replacer) []agent.Variable {
	var env []agent.Variable
	for _, e := range plan.Env {
		isDir := slices.ContainsFunc(plan.Dirs, func(d identity.EmptyDir) bool { return d.Path == e.Value })
		if !isDir {
			env = append(env, agent.Variable{Name: e.Name, Value: at.Replace(e.Value)})
		}
	}
	return env
}

func carryHome(p identity.Provider, r identity.Request, config *agent.Config, at *strings.Replacer) error {
	filer, ok := identity.As[identity.HomeFiler](p)
	if !ok {
		return nil
	}
	files, err := filer.HomeFiles(r)
	for _, f := range files {
		config.Job.Home = append(config.Job.Home, agent.File{Path: f.Path, Content: at.Replace(f.Content)})
	}
	return err
}

func below(p string) string { return strings.TrimPrefix(p, podspec.JobDir+"/") }

func projection(path, audience string, seconds float64) corev1.ServiceAccountTokenProjection {
	return corev1.ServiceAccountTokenProjection{Path: path, Audience: audience, ExpirationSeconds: new(int64(seconds))}
}
