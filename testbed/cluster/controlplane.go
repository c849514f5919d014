// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// etcdURL is a socket in the directory that the programs run in: no port to race for, and no limit to the directory's length.
const etcdURL = "unix://etcd.sock"

// bindTries is how often another port is tried when someone else was quicker to take the chosen one.
const bindTries = 5

// controllers are those of kube-controller-manager that need no node and no cloud.
var controllers = []string{
	"clusterrole-aggregation-controller", "cronjob-controller", "deployment-controller", "disruption-controller",
	"ephemeral-volume-controller", "garbage-collector-controller", "job-controller", "namespace-controller",
	"persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller", "replicaset-controller",
	"resourcequota-controller", "root-ca-certificate-publisher-controller", "serviceaccount-controller",
	"serviceaccount-token-controller", "statefulset-controller", "ttl-after-finished-controller",
}

func (c *Cluster) startEtcd() error {
	_, err := c.run("etcd",
		"--name=default", "--data-dir=etcd", "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls=unix://peer.sock", "--initial-advertise-peer-urls=unix://peer.sock",
		"--initial-cluster=default=unix://peer.sock")
	return err
}

func (c *Cluster) startAPIServer(ctx context.Context, k *keys) error {
	c.progress.say("starting etcd and kube-apiserver (logs in %s)", c.Dir)
	for range bindTries {
		port, err := freePort()
		if err != nil {
			return err
		}
		p, err := c.run("kube-apiserver", c.apiServerFlags(port)...)
		if err != nil {
			return err
		}
		if err := c.connect(k, port); err != nil {
			return err
		}
		err = c.wait(ctx, "the API server", c.apiServerReady)
		if err == nil || !bytes.Contains(p.Tail(), []byte("address already in use")) {
			return err
		}
		c.forget(p)
	}
	return fmt.Errorf("kube-apiserver: %d ports in a row were taken by others before it could listen", bindTries)
}

func (c *Cluster) apiServerFlags(port int) []string {
	return []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port), "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + servingFile, "--tls-private-key-file=" + servingKeyFile, "--client-ca-file=" + caFile,
		"--kubelet-certificate-authority=" + caFile, "--kubelet-client-certificate=" + kubeletClientFile, "--kubelet-client-key=" + kubeletClientKeyFile,
		"--authorization-mode=Node,RBAC", "--allow-privileged=true", "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=" + c.Issuer,
		"--service-account-jwks-uri=" + c.Issuer + "/keys",
		"--service-account-key-file=" + accountKeyFile, "--service-account-signing-key-file=" + accountKeyFile,
		"--service-account-max-token-expiration=24h",
		"--profiling=false",
	}
}

func (c *Cluster) apiServerReady(ctx context.Context) error {
	k, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	_, err = k.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
	return err
}

// startControllerManager starts it if there is one, and else does what pods cannot be created without.
func (c *Cluster) startControllerManager(ctx context.Context, k *keys) error {
	if c.Controllers = c.programs.has("kube-controller-manager"); !c.Controllers {
		c.progress.say("no kube-controller-manager among the programs: no garbage collection in this cluster")
		return c.makeDefaultAccount(ctx, metav1.NamespaceDefault)
	}
	cert, key, err := k.client("system:kube-controller-manager")
	if err != nil {
		return err
	}
	const file = "controller-manager.kubeconfig"
	if err := writeKubeconfig(c.path(file), c.Config.Host, k.caPEM, cert, key); err != nil {
		return err
	}
	c.progress.say("starting kube-controller-manager")
	if _, err := c.run("kube-controller-manager",
		"--kubeconfig="+file, "--authentication-kubeconfig="+file, "--authorization-kubeconfig="+file,
		"--service-account-private-key-file="+accountKeyFile, "--root-ca-file="+caFile, "--use-service-account-credentials",
		"--leader-elect=false", "--secure-port=0", "--kube-api-qps=200", "--kube-api-burst=400", "--profiling=false",
		"--controllers="+strings.Join(controllers, ",")); err != nil {
		return err
	}
	return c.wait(ctx, "the controllers", func(ctx context.Context) error {
		return c.defaultAccountReady(ctx, metav1.NamespaceDefault)
	})
}

// freePort names a port that is free now. Another may take it before it is used: see bindTries.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
