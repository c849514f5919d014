// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strconv"
	"time"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
)

// The names of the EKS pod identity webhook. Runner pods use the same ones, so that a webhook that runs after us finds
// everything in place and changes nothing.
const (
	webhookVolume    = "aws-iam-token"
	webhookTokenPath = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token" //nolint:gosec // a path
	webhookSkipLabel = "eks.amazonaws.com/skip-pod-identity-webhook"

	annotationRole       = "eks.amazonaws.com/role-arn"
	annotationAudience   = "eks.amazonaws.com/audience"
	annotationRegional   = "eks.amazonaws.com/sts-regional-endpoints"
	annotationExpiration = "eks.amazonaws.com/token-expiration"
)

// Where things are below the identity directory. A token of ours in a job pod never takes the webhook's path: the
// container hook copies paths between pods and fails there with "mkdir ...: File exists" (runner-container-hooks #381).
const (
	tokenFile  = identity.Dir + "/aws/token"
	configFile = identity.Dir + "/aws/config"
)

// plan puts the parts of a plan together, by mode and binding.
func (s settings) plan(targets identity.Target) identity.Plan {
	switch {
	case !s.webIdentity():
		return s.podIdentityPlan(targets)
	case s.Binding == v1alpha1.AWSAnnotate:
		return s.annotatePlan(targets)
	case s.chained():
		return s.chainPlan(targets)
	}
	return s.injectPlan(targets)
}

// common is what each web identity plan has.
func (s settings) common(targets identity.Target) identity.Plan {
	p := identity.Plan{Exchange: identity.Exchange{Audience: s.Audience, Lifetime: exchangeLifetime}}
	if r, ok := s.principal(); ok {
		p.Principal = r.arn
	}
	for _, h := range s.hosts {
		p.Registries = append(p.Registries, identity.Registry{Host: h.host, For: targets})
	}
	return p
}

// injectPlan is a role's plan that needs nobody's help.
func (s settings) injectPlan(targets identity.Target) identity.Plan {
	p := s.common(targets)
	for _, t := range each(targets) {
		token := identity.Token{Path: tokenFile, Audience: s.Audience, Lifetime: s.lifetime, For: t}
		if t == identity.Runner {
			token.Path, token.Volume = webhookTokenPath, webhookVolume
		}
		p.Tokens = append(p.Tokens, token)
		e := env{target: t}
		e.regional()
		e.region(s.Region)
		e.add("AWS_ROLE_ARN", s.RoleARN)
		e.add("AWS_WEB_IDENTITY_TOKEN_FILE", token.Path)
		e.add("AWS_ROLE_SESSION_NAME", s.SessionName)
		e.metadata(s.AllowInstanceMetadata)
		p.Env = append(p.Env, e.vars...)
	}
	return p
}

// annotatePlan leaves pods to the EKS webhook. The region is ours all the same: the webhook sets it only if its admin did.
// AWS_STS_REGIONAL_ENDPOINTS is asked for by annotation: the fewer of the webhook's names are there before it, the
// farther its "all present" shortcut, which leaves the mount out.
func (s settings) annotatePlan(targets identity.Target) identity.Plan {
	p := s.common(targets)
	annotations := map[string]string{
		annotationRole:       s.RoleARN,
		annotationRegional:   "true",
		annotationExpiration: seconds(s.lifetime),
	}
	if s.Audience != defaultAudience {
		annotations[annotationAudience] = s.Audience
	}
	p.Accounts = []identity.Metadata{{Annotations: annotations, For: targets}}
	e := env{target: targets}
	e.region(s.Region)
	e.metadata(s.AllowInstanceMetadata)
	p.Env = e.vars
	return p
}

// chainPlan hands the roles over in a config file and in no variable: SDKs disagree which of the two wins (the Go SDK would
// stay with the first role). So the EKS webhook, which sets the variables, is kept off.
func (s settings) chainPlan(targets identity.Target) identity.Plan {
	p := s.common(targets)
	p.Via = append([]string{s.RoleARN}, s.Chain[:len(s.Chain)-1]...)
	p.Tokens = []identity.Token{{Path: tokenFile, Audience: s.Audience, Lifetime: s.lifetime, For: targets}}
	p.Files = []identity.File{{Path: configFile, Content: s.configFile(), For: targets}}
	p.Pods = []identity.PodMetadata{{Metadata: identity.Metadata{Labels: map[string]string{webhookSkipLabel: "true"}, For: targets}}}
	e := env{target: targets}
	e.regional()
	e.region(s.Region)
	e.add("AWS_CONFIG_FILE", configFile)
	// The first generation of the Go and JavaScript SDKs reads the config file only if it is told to.
	e.add("AWS_SDK_LOAD_CONFIG", "1")
	e.metadata(s.AllowInstanceMetadata)
	p.Env = e.vars
	return p
}

// env collects variables, in the order in which the EKS webhook writes its own.
type env struct {
	target identity.Target
	vars   []identity.Env
}

// add leaves empty values out: a variable that is set and empty breaks the SDKs' chains.
func (e *env) add(name, value string) {
	if value != "" {
		e.vars = append(e.vars, identity.Env{Name: name, Value: value, For: e.target})
	}
}

func (e *env) regional() { e.add("AWS_STS_REGIONAL_ENDPOINTS", "regional") }

// region sets both names: botocore reads only the first, the other SDKs the second.
func (e *env) region(region string) {
	e.add("AWS_DEFAULT_REGION", region)
	e.add("AWS_REGION", region)
}

// metadata switches the fall-back to the node's role off, so that a broken identity fails instead of being another one.
func (e *env) metadata(allow bool) {
	if !allow {
		e.add("AWS_EC2_METADATA_DISABLED", "true")
	}
}

// each splits targets into single ones.
func each(targets identity.Target) []identity.Target {
	var single []identity.Target
	for _, t := range []identity.Target{identity.Runner, identity.Job} {
		if targets.Has(t) {
			single = append(single, t)
		}
	}
	return single
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
