// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/resolve"
)

// input are the flags of the commands that work on files alone.
type input struct {
	files  []string
	issuer string
	image  string
	own    string
}

func (i *input) flags(c *cobra.Command) {
	c.Flags().StringArrayVarP(&i.files, "filename", "f", nil, "YAML file with a RunnerDeployment or RunnerIdentity, its IdentityProvider and Namespace if there are any; - is standard input")
	c.Flags().StringVar(&i.issuer, "issuer", "", "URL of the cluster's ServiceAccount token issuer (kubectl get --raw /.well-known/openid-configuration); an IdentityProvider's issuer goes before it")
	c.Flags().StringVar(&i.image, "runner-image", defaultRunnerImage, "image of runners that name none")
	c.Flags().StringVar(&i.own, "image", defaultImage(), "this program's own image, for init containers")
	if err := c.MarkFlagRequired("filename"); err != nil {
		panic(err) // the flag is three lines up
	}
}

// wanted is one identity of a file, with the RunnerDeployment that it is of, if it is of one.
type wanted struct {
	deployment *v1alpha1.RunnerDeployment
	identity   *v1alpha1.RunnerIdentity
	resolved   resolve.Resolved
}

// resolve reads the files and resolves every identity in them. A RunnerDeployment without one is in the list too.
func (i *input) resolve(c *cobra.Command, providers identity.Set) ([]wanted, error) {
	o, err := load(c.InOrStdin(), i.files)
	if err != nil {
		return nil, err
	}
	var all []wanted
	for _, rd := range o.deployments {
		all = append(all, wanted{deployment: rd, identity: resolve.Owned(rd, i.image)})
	}
	for _, ri := range o.identities {
		all = append(all, wanted{identity: ri})
	}
	for n := range all {
		if all[n].identity == nil {
			continue
		}
		if all[n].resolved, err = i.resolveOne(o, all[n].identity, providers); err != nil {
			return nil, fmt.Errorf("%s/%s: %s: %w", all[n].identity.Namespace, all[n].identity.Name, identity.ReasonOf(err), err)
		}
	}
	return all, nil
}

func (i *input) resolveOne(o objects, ri *v1alpha1.RunnerIdentity, providers identity.Set) (resolve.Resolved, error) {
	in := resolve.Input{
		Providers: providers,
		Identity:  ri,
		Provider:  o.providers[ri.Spec.IdentityProvider],
		Issuer:    i.issuer,
		Image:     i.own,
	}
	if ns := o.namespaces[ri.Namespace]; ns != nil {
		in.NamespaceLabels = ns.Labels
	}
	return resolve.Identity(in)
}
