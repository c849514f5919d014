// SPDX-License-Identifier: Apache-2.0

// Package cmd is the command line: it reads flags and files, calls the packages that do the work, and prints.
package cmd

import (
	"github.com/spf13/cobra"

	"github.com/runner-identity/runner-identity/identity"
)

// Root is the program for a set of providers.
func Root(providers identity.Set) *cobra.Command {
	root := &cobra.Command{
		Use:   "runner-identity",
		Short: "Cloud identity for self-hosted GitHub Actions runners on Kubernetes",
		// A failed run is not a wrong call: the usage text would push the error off the screen.
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(controllerCommand(providers), renderCommand(providers), trustCommand(providers), agentCommand(providers), waitCommand())
	return root
}
