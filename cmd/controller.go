// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"github.com/spf13/cobra"

	"github.com/runner-identity/runner-identity/identity"
)

const defaultRunnerImage = "ghcr.io/actions/actions-runner:latest"

func controllerCommand(identity.Set) *cobra.Command { return &cobra.Command{Use: "controller"} }
