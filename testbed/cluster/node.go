// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"strings"
)

// APIServerAddress is where pods find the API server: the address of its Service. A node has to see to it that they do.
const APIServerAddress = "10.0.0.1:443"

// nodeControllers are those of kube-controller-manager that watch nodes. They run only in a cluster with a node: they delete
// pods that are on a node that does not exist, which are all that a test without a node can have.
var nodeControllers = []string{"node-lifecycle-controller", "taint-eviction-controller", "pod-garbage-collector-controller"}

// NodeCredentials are what a kubelet needs to know the API server, and to be known by it.
type NodeCredentials struct {
	// ClientCA is the certificate of the authority that signed the others, and the API server's.
	ClientCA []byte
	// ServingCert and ServingKey are what the kubelet's own API is served with.
	ServingCert, ServingKey []byte
}

// WriteNodeCredentials issues the credentials of a node, which is reached at the address that is its name, and writes a
// kubeconfig for its kubelet.
func (c *Cluster) WriteNodeCredentials(name, kubeconfig string) (NodeCredentials, error) {
	cert, key, err := c.keys.client("system:node:"+name, "system:nodes")
	if err != nil {
		return NodeCredentials{}, err
	}
	if err := writeKubeconfig(kubeconfig, "https://"+APIServerAddress, c.keys.caPEM, cert, key); err != nil {
		return NodeCredentials{}, err
	}
	serving := x509.Certificate{
		Subject:     pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}},
		IPAddresses: []net.IP{net.ParseIP(name)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, key, err = c.keys.issue(serving)
	return NodeCredentials{ClientCA: c.keys.caPEM, ServingCert: cert, ServingKey: key}, err
}

// Program is the beginning of the command line of one of the cluster's programs, such as kubelet.
func (c *Cluster) Program(name string) ([]string, error) { return c.programs.command(name) }

// BeforeStop has Stop call a function first: that of what cannot live without the cluster.
func (c *Cluster) BeforeStop(f func() error) { c.beforeStop = append(c.beforeStop, f) }

// StartNodeSupport starts what only a cluster with nodes needs: kube-scheduler, and the controllers that notice when a node is
// lost. They live as long as the cluster. Calling it again does nothing.
func (c *Cluster) StartNodeSupport() error {
	if c.nodeSupport {
		return nil
	}
	for name, flags := range map[string][]string{
		"kube-scheduler": nil,
		"kube-controller-manager": {
			"--service-account-private-key-file=" + accountKeyFile, "--use-service-account-credentials",
			"--node-monitor-period=1s", "--node-monitor-grace-period=20s",
			"--controllers=" + strings.Join(nodeControllers, ","),
		},
	} {
		if err := c.runSupport(name, flags...); err != nil {
			return fmt.Errorf("%s for nodes: %w", name, err)
		}
	}
	c.nodeSupport = true
	return nil
}

func (c *Cluster) runSupport(program string, flags ...string) error {
	cert, key, err := c.keys.client("system:" + program)
	if err != nil {
		return err
	}
	file := "node-" + program + ".kubeconfig"
	if err := writeKubeconfig(c.path(file), c.Config.Host, c.keys.caPEM, cert, key); err != nil {
		return err
	}
	common := []string{
		"--kubeconfig=" + file, "--authentication-kubeconfig=" + file, "--authorization-kubeconfig=" + file,
		"--leader-elect=false", "--secure-port=0", "--profiling=false",
	}
	_, err = c.runAs("node-"+program, program, append(common, flags...)...)
	return err
}
