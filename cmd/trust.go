// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runner-identity/runner-identity/identity"
)

func trustCommand(providers identity.Set) *cobra.Command {
	var in input
	c := &cobra.Command{
		Use:   "trust -f FILE",
		Short: "Print what has to exist in the cloud: trust and permission policies to paste",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := in.resolve(c, providers)
			if err != nil {
				return err
			}
			for _, w := range all {
				if w.identity == nil {
					continue
				}
				if err := printTrust(c.OutOrStdout(), w); err != nil {
					return fmt.Errorf("%s: %w", w.name(), err)
				}
			}
			return nil
		},
	}
	in.flags(c)
	return c
}

func printTrust(out io.Writer, w wanted) error {
	truster, ok := identity.As[identity.Truster](w.resolved.Provider)
	if !ok {
		_, err := fmt.Fprintf(out, "# %s: provider %s has nothing to set up in a cloud\n", w.name(), w.resolved.Provider.Name())
		return err
	}
	trust, err := truster.Trust(w.resolved.Request)
	if err != nil {
		return err
	}
	for _, d := range trust.Documents {
		title := "# " + strings.ReplaceAll(strings.TrimSpace(d.Title), "\n", "\n# ")
		if _, err := fmt.Fprintf(out, "%s\n%s\n\n", title, strings.TrimSpace(d.Body)); err != nil {
			return err
		}
	}
	return nil
}
