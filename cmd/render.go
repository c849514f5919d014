// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/runner-identity/runner-identity/api/v1alpha1"
	"github.com/runner-identity/runner-identity/identity"
	"github.com/runner-identity/runner-identity/manifest"
	"github.com/runner-identity/runner-identity/podspec"
)

// sampleSuffix stands for the random end of a runner's name.
const sampleSuffix = "-x1y2z"

func renderCommand(providers identity.Set) *cobra.Command {
	var in input
	c := &cobra.Command{
		Use:   "render -f FILE",
		Short: "Print every object that the controller would make, without a cluster",
		Long: `Print every object that the controller would make of a file: the RunnerIdentity, ServiceAccounts, role, registry Secret
(its shape; there is no login in it), a runner pod and the container hook's pod template. Nothing is asked of a cluster or a cloud.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := in.resolve(c, providers)
			if err != nil {
				return err
			}
			for _, w := range all {
				objects, err := rendered(w, in.image)
				if err != nil {
					return fmt.Errorf("%s: %w", w.name(), err)
				}
				if err := printYAML(c.OutOrStdout(), objects); err != nil {
					return err
				}
			}
			return nil
		},
	}
	in.flags(c)
	return c
}

func (w wanted) name() string {
	if w.deployment != nil {
		return w.deployment.Namespace + "/" + w.deployment.Name
	}
	return w.identity.Namespace + "/" + w.identity.Name
}

// part is one object to print and the words above it.
type part struct {
	title  string
	object any
}

// rendered are the objects of one identity, in the order in which the controller makes them.
func rendered(w wanted, image string) ([]part, error) {
	var parts []part
	if w.identity != nil {
		identityParts, err := renderedIdentity(w)
		if err != nil {
			return nil, err
		}
		parts = identityParts
	}
	if w.deployment == nil {
		return parts, nil
	}
	pod, err := renderedPod(w, image)
	if err != nil {
		return nil, err
	}
	return append(parts, part{"a runner pod; its JIT config is in a Secret of its own name", pod}), nil
}

func renderedIdentity(w wanted) ([]part, error) {
	var parts []part
	if w.deployment != nil {
		parts = append(parts, part{"the RunnerIdentity that the RunnerDeployment owns", w.identity})
	}
	for _, sa := range manifest.ServiceAccounts(w.identity, w.resolved) {
		parts = append(parts, part{"a ServiceAccount; an existing one is adopted: only what is here is added to it", sa})
	}
	if w.deployment != nil && w.deployment.Spec.Template.Spec.ContainerMode == v1alpha1.ContainerModeKubernetes {
		role, binding := manifest.HookRole(w.identity, w.resolved.Request.Accounts.Runner)
		parts = append(parts, part{"what the runner's container hook may do", role}, part{"to the runner's account", binding})
	}
	if hosts := w.resolved.Plan.Hosts(); len(hosts) > 0 {
		secret, err := secretShape(w, hosts)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{"the shape of the registry Secret; the controller fills in logins and renews them", secret})
	}
	if w.resolved.Job == nil {
		return parts, nil
	}
	template, err := podspec.HookTemplate(*w.resolved.Job, nil)
	if err != nil {
		return nil, err
	}
	return append(parts, part{"the job's part of the plan as the container hook's pod template", rawYAML(template)}), nil
}

// secretShape is the registry Secret without a login: nothing that looks like one is printed.
func secretShape(w wanted, hosts []string) (*corev1.Secret, error) {
	secret, err := manifest.RegistrySecret(w.identity, nil)
	if err != nil {
		return nil, err
	}
	auths := make([]string, 0, len(hosts))
	for _, h := range hosts {
		auths = append(auths, fmt.Sprintf("%q:{}", h))
	}
	secret.Data = nil
	secret.StringData = map[string]string{corev1.DockerConfigJsonKey: `{"auths":{` + strings.Join(auths, ",") + `}}`}
	return secret, nil
}

func renderedPod(w wanted, image string) (podspec.Object, error) {
	rd := w.deployment
	return podspec.RunnerPod(podspec.Runner{
		Namespace:    rd.Namespace,
		Name:         rd.Name + sampleSuffix,
		Deployment:   rd.Name,
		Template:     rd.Spec.Template,
		Plan:         w.resolved.Runner,
		TemplateHash: podspec.TemplateHash(rd.Spec.Template, w.resolved.Runner, image),
		DefaultImage: image,
	})
}

// rawYAML is YAML that is printed as it is.
type rawYAML []byte

// printYAML writes the objects as one YAML stream that kubectl can read.
func printYAML(out io.Writer, parts []part) error {
	for _, p := range parts {
		b, raw := p.object.(rawYAML)
		if !raw {
			var err error
			if b, err = withoutStatus(p.object); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(out, "---\n# %s\n%s", p.title, b); err != nil {
			return err
		}
	}
	return nil
}

// withoutStatus leaves out what only a cluster fills in.
func withoutStatus(object any) ([]byte, error) {
	b, err := yaml.Marshal(object)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	if err := yaml.Unmarshal(b, &fields); err != nil {
		return nil, err
	}
	delete(fields, "status")
	return yaml.Marshal(fields)
}
