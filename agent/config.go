// SPDX-License-Identifier: Apache-2.0

// Package agent is the program beside a runner with a docker daemon. It keeps the docker client logged in with the pod's own token,
// and carries the pod's identity into the containers of jobs. A cloud that is slow or refuses costs logins, never a job.
package agent

import (
	"encoding/json"
	"fmt"

	"github.com/runner-identity/runner-identity/identity"
)

// Config is what the agent has to do. There is no secret in it. The zero Config is nothing to do.
type Config struct {
	// Provider is the name of the plug-in that logs in.
	Provider string `json:"provider,omitempty"`
	// Request is what the plug-in is asked. Its account is the pod's own.
	Request identity.Request `json:"request,omitzero"`
	// Hosts are the registries to log in to.
	Hosts []string `json:"hosts,omitempty"`
	// Token is the path of the token that is traded for logins.
	Token string `json:"token,omitempty"`
	// Job is what is carried into the containers of jobs.
	Job Job `json:"job,omitzero"`
}

// Job is what is carried into the containers of jobs.
type Job struct {
	// Tokens are copied, and copied again when the kubelet has renewed them.
	Tokens []Token `json:"tokens,omitempty"`
	// Files are below podspec.JobDir.
	Files []File `json:"files,omitempty"`
	// Home are files below the home directory of the containers.
	Home []File `json:"home,omitempty"`
	// Env are variables of all steps. Their values are shown in the job's log.
	Env []Variable `json:"env,omitempty"`
}

// Token is a ServiceAccount token to carry.
type Token struct {
	// From is where the agent has it, Path where jobs do, below podspec.JobDir.
	From string `json:"from"`
	Path string `json:"path"`
}

// File is a file with non-secret content.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Variable is an environment variable.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Parse reads a Config. Fields that this version does not know are left out: they are a newer controller's.
func Parse(text string) (Config, error) {
	var c Config
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	return c, nil
}
