// SPDX-License-Identifier: Apache-2.0

// Package identity turns what a runner asks for into a plan: plain data that says which ServiceAccounts, tokens, files,
// variables and registry logins its pods need. It imports no Kubernetes client; nothing in a Plan is secret.
package identity

import "context"

// A Provider plans the identity of one cloud. Plan is pure: the same request gives the same plan, and nothing is read,
// written or asked of a clock. An error from Plan is an Invalid one and names the field, the value and what would be right.
type Provider interface {
	// Name is the plug-in's name, a lower-case DNS label: what users write as identityProvider.
	Name() string
	Plan(Request) (Plan, error)
}

// Validator lists what is wrong with a request before anything is made of it. It is pure.
type Validator interface {
	Validate(Request) []Problem
}

// HomeFiler names the files by which tools find an identity that look into the home directory and at no variable. It is pure.
type HomeFiler interface {
	// HomeFiles are files for a job's home directory. Their paths are below it, such as ".aws/config"; their content, which is
	// never secret, may contain Dir. They say the same as the plan of the request, which has Job among its targets.
	HomeFiles(Request) ([]File, error)
}

// Truster says what has to exist in the cloud before the plan works: policies and commands to paste. It is pure.
type Truster interface {
	Trust(Request) (Trust, error)
}

// RegistryLogin trades a ServiceAccount token for a login to one registry host.
type RegistryLogin interface {
	// Serves reports whether host, a bare registry host such as "public.ecr.aws", is one that this provider logs in to.
	Serves(host string) bool
	// Login returns a login for host. The token is one for the request's account with the plan's Exchange audience.
	Login(ctx context.Context, host string, token Secret, r Request) (Credential, error)
}

// Prober exchanges a token for real and says which link of the chain is broken.
type Prober interface {
	// Probe returns the links in the order in which they depend on each other and stops at the first broken one, whose
	// error it also returns. The token is one for the request's account with the plan's Exchange audience.
	Probe(ctx context.Context, token Secret, r Request) ([]Link, error)
}

// A Link is one step between a ServiceAccount token and the cloud, as a Prober saw it.
type Link struct {
	// Name says which link: "token", "issuer", "sts", "registry".
	Name string `json:"name"`
	// OK is whether it held.
	OK bool `json:"ok"`
	// Detail is one sentence: what was seen, and what mends it if it is broken. Never a token.
	Detail string `json:"detail"`
}

// A Problem is one thing that is wrong with a request.
type Problem struct {
	// Field is the path below the identity settings, such as "aws.roleARN".
	Field string `json:"field"`
	// Message names the bad value and what would be right.
	Message string `json:"message"`
}

// String is the field and the message.
func (p Problem) String() string { return p.Field + ": " + p.Message }

// Trust is what has to exist in the cloud, for a person to paste.
type Trust struct {
	Documents []Document `json:"documents"`
}

// A Document is one policy or one list of commands.
type Document struct {
	// Title says what it is and where it belongs.
	Title string `json:"title"`
	// Body is the text to paste.
	Body string `json:"body"`
}
