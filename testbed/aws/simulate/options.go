// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/runner-identity/runner-identity/testbed/aws"
)

type options struct {
	listen, roles             string
	kubeconfig                string
	server, caFile, tokenFile string
	issuer, clientIDs         string
	login, session            time.Duration
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.StringVar(&o.listen, "listen", "127.0.0.1:4580", "address to listen on; port 0 picks a free one")
	f.StringVar(&o.roles, "roles", "", "YAML file with the IAM roles, and issuers beside the cluster (required)")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster whose ServiceAccount tokens are taken")
	f.StringVar(&o.server, "server", "", "in place of -kubeconfig: URL of the API server")
	f.StringVar(&o.caFile, "ca-file", "", "with -server: file with the CA of the API server")
	f.StringVar(&o.tokenFile, "token-file", "", "with -server: file with a bearer token that may read the API server's keys")
	f.StringVar(&o.issuer, "issuer", "", "the cluster's issuer URL; the API server is asked if it is empty")
	f.StringVar(&o.clientIDs, "client-ids", "sts.amazonaws.com", "audiences that the OIDC provider takes, with commas between")
	f.DurationVar(&o.login, "login-lifetime", aws.LoginLifetime, "how long registry logins live")
	f.DurationVar(&o.session, "session-lifetime", 0, "the longest that STS sessions live; 0 is as long as asked for")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.roles == "" {
		return o, fmt.Errorf("-roles: must name a YAML file, such as testbed/aws/roles.example.yaml")
	}
	if o.kubeconfig != "" && o.server != "" {
		return o, fmt.Errorf("-kubeconfig %s and -server %s: only one of them can be given", o.kubeconfig, o.server)
	}
	return o, nil
}

// config reads the roles file and adds the cluster's issuer to it.
func (o options) config(ctx context.Context) (aws.Config, error) {
	b, err := os.ReadFile(o.roles)
	if err != nil {
		return aws.Config{}, fmt.Errorf("-roles: %w", err)
	}
	c, err := aws.ReadFile(b)
	if err != nil {
		return c, fmt.Errorf("-roles %s: %w", o.roles, err)
	}
	c.LoginLifetime, c.SessionLifetime = o.login, o.session
	if o.kubeconfig == "" && o.server == "" {
		if len(c.Issuers) == 0 {
			return c, fmt.Errorf("issuers: none in %s, so -kubeconfig or -server must be given", o.roles)
		}
		return c, nil
	}
	cluster, err := o.cluster()
	if err != nil {
		return c, err
	}
	issuer, err := aws.ClusterIssuer(ctx, cluster, o.issuer, strings.Split(o.clientIDs, ",")...)
	if err != nil {
		return c, fmt.Errorf("cluster %s: %w", cmp.Or(o.server, o.kubeconfig), err)
	}
	c.Issuers = append(c.Issuers, issuer)
	return c, nil
}

func (o options) cluster() (*rest.Config, error) {
	if o.kubeconfig != "" {
		c, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("-kubeconfig %s: %w", o.kubeconfig, err)
		}
		return c, nil
	}
	return &rest.Config{Host: o.server, BearerTokenFile: o.tokenFile, TLSClientConfig: rest.TLSClientConfig{CAFile: o.caFile}}, nil
}
