// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/runner-identity/runner-identity/testbed/gcp"
	"github.com/runner-identity/runner-identity/testbed/sim"
)

type options struct {
	listen, iam, kubeconfig, issuer string
	pod, cluster, project           string
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.StringVar(&o.listen, "listen", "127.0.0.1:4567", "address to listen on; port 0 picks a free one")
	f.StringVar(&o.iam, "iam", "", "YAML file with providers, service accounts and repositories (required)")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster whose ServiceAccount tokens are taken")
	f.StringVar(&o.issuer, "issuer", "", "the cluster's issuer URL; the API server is asked if it is empty")
	f.StringVar(&o.pod, "metadata-pod", "", "NAMESPACE/SERVICEACCOUNT of a pod to start a metadata server for")
	f.StringVar(&o.cluster, "metadata-cluster", "", "with -metadata-pod: name of the GKE cluster, one of the providers")
	f.StringVar(&o.project, "metadata-project", "acme-ci", "with -metadata-pod: id of the cluster's project")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.iam == "" {
		return o, fmt.Errorf("-iam: must name a YAML file, such as testbed/gcp/iam.example.yaml")
	}
	if o.pod != "" && (o.kubeconfig == "" || o.cluster == "" || strings.Count(o.pod, "/") != 1) {
		return o, fmt.Errorf("-metadata-pod %q: must be NAMESPACE/SERVICEACCOUNT, and needs -kubeconfig and -metadata-cluster", o.pod)
	}
	return o, nil
}

// config reads the file and fills in the cluster where a provider names no issuer.
func (o options) config(ctx context.Context) (gcp.Config, error) {
	b, err := os.ReadFile(o.iam)
	if err != nil {
		return gcp.Config{}, fmt.Errorf("-iam: %w", err)
	}
	c, err := gcp.ReadFile(b)
	if err != nil || o.kubeconfig == "" {
		return c, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return c, fmt.Errorf("-kubeconfig %s: %w", o.kubeconfig, err)
	}
	cluster, err := sim.FindCluster(ctx, config, o.issuer)
	if err != nil {
		return c, fmt.Errorf("-kubeconfig %s: %w", o.kubeconfig, err)
	}
	for i, p := range c.Providers {
		if p.JWKS == "" {
			c.Providers[i].JWKS, c.Providers[i].Client = cluster.JWKS, cluster.Client
			c.Providers[i].Issuer = cmp.Or(p.Issuer, cluster.Issuer)
		}
	}
	return c, nil
}

func (o options) startMetadata(s *gcp.Server) (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return "", fmt.Errorf("-kubeconfig %s: %w", o.kubeconfig, err)
	}
	k, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("-kubeconfig %s: %w", o.kubeconfig, err)
	}
	namespace, account, _ := strings.Cut(o.pod, "/")
	pod := gcp.ClusterPod(k, namespace, account)
	pod.Provider, pod.ProjectID = o.cluster, o.project
	return s.StartMetadata(pod)
}
