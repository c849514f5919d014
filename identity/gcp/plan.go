// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strconv"
	"time"

	"github.com/runner-identity/runner-identity/identity"
)

// plan puts the parts of a plan together, by mode.
func (s settings) plan(r identity.Request) (identity.Plan, error) {
	var p identity.Plan
	s.principals(&p, r)
	for _, h := range s.hosts {
		p.Registries = append(p.Registries, identity.Registry{Host: h.host, For: r.Targets})
	}
	if s.provider.kind != noProvider {
		p.Exchange = identity.Exchange{Audience: s.Audience, Lifetime: exchangeLifetime}
	}
	if s.federated() {
		return p, s.federate(&p, r.Targets)
	}
	s.annotate(&p, r.Targets)
	return p, nil
}

// env collects variables.
type env struct {
	target identity.Target
	vars   []identity.Env
}

// add leaves empty values out: clients take a variable that is set and empty for a project or a region without a name.
func (e *env) add(name, value string) {
	if value != "" {
		e.vars = append(e.vars, identity.Env{Name: name, Value: value, For: e.target})
	}
}

// project sets the names by which client libraries and gcloud know the project: a credential file does not tell it.
func (e *env) project(s settings) {
	e.add("GOOGLE_CLOUD_PROJECT", s.ProjectID)
	e.add("CLOUDSDK_CORE_PROJECT", s.ProjectID)
	e.add("CLOUDSDK_COMPUTE_REGION", s.Region)
	if s.UniverseDomain != defaultUniverse {
		e.add("GOOGLE_CLOUD_UNIVERSE_DOMAIN", s.UniverseDomain)
		e.add("CLOUDSDK_CORE_UNIVERSE_DOMAIN", s.UniverseDomain)
	}
}

func seconds(d time.Duration) int { return int(d / time.Second) }

func yes(b bool) string {
	if !b {
		return ""
	}
	return strconv.FormatBool(b)
}
