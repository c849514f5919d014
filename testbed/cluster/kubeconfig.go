// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// connect makes the admin's credentials for an API server at a port.
func (c *Cluster) connect(k *keys, port int) error {
	cert, key, err := k.client("runner-identity-admin", mastersGroup)
	if err != nil {
		return err
	}
	c.Config = &rest.Config{
		Host:            fmt.Sprintf("https://127.0.0.1:%d", port),
		TLSClientConfig: rest.TLSClientConfig{CAData: k.caPEM, CertData: cert, KeyData: key},
		QPS:             -1, // the API server's own fairness is the only limit
	}
	c.JWKSURL = c.Config.Host + "/openid/v1/jwks"
	c.Kubeconfig = c.path("kubeconfig")
	return writeKubeconfig(c.Kubeconfig, c.Config.Host, k.caPEM, cert, key)
}

// writeKubeconfig writes a file that clients take, with all keys in it.
func writeKubeconfig(path, server string, ca, cert, key []byte) error {
	const name = "runner-identity-testbed"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}
