// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"fmt"
	"strings"

	"github.com/runner-identity/runner-identity/identity"
)

var _ identity.HomeFiler = (*Provider)(nil)

// gcloudHome is gcloud's directory in a home directory.
const gcloudHome = ".config/gcloud/"

// HomeFiles are Application Default Credentials, and a configuration of gcloud, which does not read them. With mode Metadata there
// is nothing to read: everything asks the metadata server.
func (*Provider) HomeFiles(r identity.Request) ([]identity.File, error) {
	s, problems := parse(r)
	if err := identity.Problems(problems); err != nil {
		return nil, err
	}
	if !s.federated() {
		return nil, nil
	}
	credentials, err := s.credentials()
	if err != nil {
		return nil, err
	}
	return []identity.File{
		{Path: gcloudHome + "application_default_credentials.json", Content: credentials, For: identity.Job},
		// Without active_config gcloud empties the configuration and ends with "no active account".
		{Path: gcloudHome + "active_config", Content: "default", For: identity.Job},
		{Path: gcloudHome + "configurations/config_default", Content: s.gcloudConfiguration(), For: identity.Job},
	}, nil
}

func (s settings) gcloudConfiguration() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[auth]\ncredential_file_override = %s\n", credentialFile)
	if s.ProjectID != "" {
		fmt.Fprintf(&b, "\n[core]\nproject = %s\n", s.ProjectID)
	}
	if s.QuotaProject != "" {
		fmt.Fprintf(&b, "\n[billing]\nquota_project = %s\n", s.QuotaProject)
	}
	return b.String()
}
