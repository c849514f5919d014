// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// settings are the part of a JIT configuration that the runner goes by.
type settings struct {
	AgentName  string
	ServerURL  string `json:"ServerUrl"`
	WorkFolder string
}

var errNotJIT = errors.New(envJIT + ": must be the base64 of a JSON object with the base64 of .runner, as GitHub's API gave it")

// parseJITConfig reads a JIT configuration. It holds a key, so errors do not show it.
func parseJITConfig(config string) (settings, error) {
	var s settings
	raw, err := base64.StdEncoding.DecodeString(config)
	if err != nil {
		return s, errNotJIT
	}
	var files map[string][]byte
	if json.Unmarshal(raw, &files) != nil || json.Unmarshal(files[".runner"], &s) != nil {
		return s, errNotJIT
	}
	server, err := url.Parse(s.ServerURL)
	if err != nil || server.Host == "" {
		return s, fmt.Errorf("%s: ServerUrl in .runner: is %q: must be the URL of a GitHub simulator", envJIT, s.ServerURL)
	}
	return s, nil
}

// workDir is the absolute path of the work folder.
func (s settings) workDir(home string) string {
	if filepath.IsAbs(s.WorkFolder) {
		return s.WorkFolder
	}
	return filepath.Join(home, s.WorkFolder)
}
