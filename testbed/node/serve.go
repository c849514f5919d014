// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// headerTimeout is how long a client may take to say what it wants.
const headerTimeout = time.Minute

// Serve answers HTTPS at port 443 of hosts, as pods and the node's containerd see them, until Stop. A host may be *.name, for
// all names below it. Nothing on the machine itself is served.
func (n *Node) Serve(ctx context.Context, handler http.Handler, hosts ...string) error {
	address := n.nextAddress()
	listener, err := n.Listen(ctx, netip.AddrPortFrom(address, 443).String())
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	n.later(server)
	go func() { _ = server.Serve(tls.NewListener(listener, n.authority.config())) }()
	for _, h := range hosts {
		n.Resolve(h, address)
	}
	return nil
}

// nextAddress is one that no host has yet.
func (n *Node) nextAddress() netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	a := netip.MustParseAddr(firstHost)
	for range n.hosts {
		a = a.Next()
	}
	n.hosts++
	return a
}

// Transport reaches what the node serves from outside of it, by the names and with the trust that its pods have.
func (n *Node) Transport() *http.Transport {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(n.CA)
	return &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			a, ok := n.names.find(host)
			if !ok {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			return n.box.net.dial(net.JoinHostPort(a.String(), port))
		},
	}
}
