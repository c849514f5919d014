// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files that the programs read.
const (
	caFile                                  = "ca.crt"
	servingFile                             = "apiserver.crt"
	servingKeyFile                          = "apiserver.key"
	accountKeyFile                          = "service-account.key"
	kubeletClientFile, kubeletClientKeyFile = "apiserver-kubelet-client.crt", "apiserver-kubelet-client.key"
)

// mastersGroup may do everything.
const mastersGroup = "system:masters"

// keys is the cluster's own certificate authority, and what it has issued.
type keys struct {
	dir    string
	ca     *x509.Certificate
	caKey  crypto.Signer
	caPEM  []byte
	serial int64
}

// newKeys makes an authority, the API server's certificate, and the key that signs ServiceAccount tokens.
func newKeys(dir string) (*keys, error) {
	k := &keys{dir: dir}
	if err := k.makeCA(); err != nil {
		return nil, err
	}
	cert, key, err := k.issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return nil, err
	}
	account, err := accountKey()
	if err != nil {
		return nil, err
	}
	kubelet, kubeletKey, err := k.client("kube-apiserver-kubelet-client", mastersGroup)
	if err != nil {
		return nil, err
	}
	return k, k.write(map[string][]byte{
		caFile: k.caPEM, servingFile: cert, servingKeyFile: key, accountKeyFile: account,
		kubeletClientFile: kubelet, kubeletClientKeyFile: kubeletKey,
	})
}

// client issues a certificate by which the API server knows a user and its groups.
func (k *keys) client(user string, groups ...string) (cert, key []byte, err error) {
	return k.issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (k *keys) makeCA() (err error) {
	k.ca = k.dated(x509.Certificate{
		Subject: pkix.Name{CommonName: "runner-identity-testbed"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	})
	if k.caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, k.ca, k.ca, k.caKey.Public(), k.caKey)
	if err != nil {
		return err
	}
	k.caPEM = encode("CERTIFICATE", der)
	k.ca, err = x509.ParseCertificate(der)
	return err
}

func (k *keys) issue(t x509.Certificate) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, k.dated(t), k.ca, private.Public(), k.caKey)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", keyDER), err
}

// dated gives a certificate a number and a life that begins early, for clocks that differ.
func (k *keys) dated(t x509.Certificate) *x509.Certificate {
	k.serial++
	t.SerialNumber = big.NewInt(k.serial)
	t.NotBefore, t.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	return &t
}

func (k *keys) write(files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(k.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// accountKey is RSA because that is what clouds take: a managed cluster signs with RS256.
func accountKey() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	return encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
