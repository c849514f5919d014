// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"path"
	"strings"
	"time"
)

// Dir stands for the directory in which a pod finds its identity files. Plans write it; the carrier replaces it (see At)
// once it knows where the files will be.
const Dir = "${IDENTITY_DIR}"

// MinTokenLifetime is the shortest life of a ServiceAccount token that the API server issues.
const MinTokenLifetime = 10 * time.Minute

// A Plan is everything that a provider adds. The zero Plan adds nothing. It holds no secret and is JSON-clean.
type Plan struct {
	// Principal is the cloud identity, as its cloud writes it: a role ARN, a Google service account.
	Principal string `json:"principal,omitempty"`
	// Via are the principals that are assumed on the way to Principal, in order. The admin's guard rails cover them too.
	Via []string `json:"via,omitempty"`
	// Accounts are annotations and labels for the ServiceAccounts of a target.
	Accounts []Metadata `json:"accounts,omitempty"`
	// Tokens are ServiceAccount tokens that the kubelet projects into pods.
	Tokens []Token `json:"tokens,omitempty"`
	// Files are files with non-secret content.
	Files []File `json:"files,omitempty"`
	// Dirs are empty directories that containers may write to.
	Dirs []EmptyDir `json:"dirs,omitempty"`
	// Waits are addresses that have to answer before the containers of a pod start.
	Waits []Wait `json:"waits,omitempty"`
	// Env are environment variables.
	Env []Env `json:"env,omitempty"`
	// Registries are the hosts that pods of a target log in to.
	Registries []Registry `json:"registries,omitempty"`
	// Pods are labels, annotations and a node selector for the pods of a target.
	Pods []PodMetadata `json:"pods,omitempty"`
	// Exchange is the token that is traded at the cloud for registry logins and probes.
	// A plan without one (empty audience) cannot log in to registries.
	Exchange Exchange `json:"exchange,omitzero"`
}

// Metadata are annotations and labels.
type Metadata struct {
	Annotations map[string]string `json:"annotations,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	For         Target            `json:"for"`
}

// PodMetadata is what a plan adds to a pod beside its containers.
type PodMetadata struct {
	Metadata
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
}

// A Token is a projected ServiceAccount token.
type Token struct {
	// Path is where the token file is in the container: below Dir, or an absolute path, which then needs Volume.
	Path string `json:"path"`
	// Volume names the volume of a token outside Dir, for clouds whose own webhook knows it by that name.
	Volume string `json:"volume,omitempty"`
	// Audience is the token's only audience.
	Audience string `json:"audience"`
	// Lifetime is what is asked of the API server, at least 10 minutes. The kubelet renews the file at 80 % of it.
	Lifetime time.Duration `json:"lifetime"`
	For      Target        `json:"for"`
}

// A File is a file with non-secret content. Path is below Dir; Content may contain Dir.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	For     Target `json:"for"`
}

// An EmptyDir is an empty directory at an absolute path that the containers of a pod share and may write to.
type EmptyDir struct {
	// Path is where it is in the container.
	Path string `json:"path"`
	// Volume names its volume.
	Volume string `json:"volume"`
	For    Target `json:"for"`
}

// A Wait is an HTTP address that answers 200 once the pod's identity is there. Some clouds hand identities out from the node, and
// need seconds for a pod that has just started; clients that ask too early take the node for one without identities.
type Wait struct {
	// Name tells this wait from others, a DNS label.
	Name string `json:"name"`
	// URL is asked with GET until it answers 200. It is never secret.
	URL string `json:"url"`
	// Header is sent with it, one value a name.
	Header map[string]string `json:"header,omitempty"`
	For    Target            `json:"for"`
}

// Env is one environment variable. Value is never secret and may contain Dir.
type Env struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	For   Target `json:"for"`
}

// A Registry is one registry host, bare, such as "111122223333.dkr.ecr.eu-west-1.amazonaws.com".
type Registry struct {
	Host string `json:"host"`
	For  Target `json:"for"`
}

// An Exchange describes the ServiceAccount token that is traded at the cloud.
type Exchange struct {
	Audience string        `json:"audience,omitempty"`
	Lifetime time.Duration `json:"lifetime,omitempty"`
}

// At returns the plan with Dir replaced by dir, an absolute path, in all paths, contents and values.
func (p Plan) At(dir string) Plan {
	at := func(s string) string { return strings.ReplaceAll(s, Dir, path.Clean(dir)) }
	p.Tokens = mapped(p.Tokens, func(t Token) Token { t.Path = at(t.Path); return t })
	p.Files = mapped(p.Files, func(f File) File { f.Path, f.Content = at(f.Path), at(f.Content); return f })
	p.Env = mapped(p.Env, func(e Env) Env { e.Value = at(e.Value); return e })
	return p
}

// Hosts lists the registry hosts for any target, in the plan's order and without repeats.
func (p Plan) Hosts() []string {
	var hosts []string
	seen := map[string]bool{}
	for _, r := range p.Registries {
		if !seen[r.Host] {
			seen[r.Host] = true
			hosts = append(hosts, r.Host)
		}
	}
	return hosts
}

func mapped[T any](in []T, f func(T) T) []T {
	if in == nil {
		return nil
	}
	out := make([]T, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}
