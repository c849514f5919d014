// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/tls"
	"io"
	"log"
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
