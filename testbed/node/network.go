// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"

	"github.com/runner-identity/runner-identity/testbed/cluster"
)

// The node's networks. They are in a namespace of their own, so they are in nobody's way.
const (
	// nodeAddress is the node's own, dnsAddress that of its name server.
	nodeAddress = "198.18.0.1"
	dnsAddress  = "198.18.0.2"
	// firstHost is the first of the addresses of Serve's hosts.
	firstHost = "198.18.1.1"
	podCIDR   = "10.244.0.0/16"

	kubeletPort = "10250"
)

// localNetworks are those that the node itself answers for: its own, that of Services, and that of clouds' metadata servers.
var localNetworks = []string{"198.18.0.0/15", "10.0.0.0/24", "169.254.0.0/16"}

// maxNodes is how many nodes of all clusters fit on a machine.
const maxNodes = 250

// connect lets the node and its pods reach the API server, and the API server the kubelet.
func (n *Node) connect(ctx context.Context, _ machine) error {
	dns, err := n.box.net.listenPacket(ctx, net.JoinHostPort(dnsAddress, "53"))
	if err != nil {
		return err
	}
	n.later(dns)
	go n.names.serve(dns)
	api := netip.MustParseAddrPort(cluster.APIServerAddress)
	for _, name := range []string{"kubernetes.default.svc.cluster.local", "kubernetes.default.svc", "kubernetes.default"} {
		n.names.set(name, api.Addr())
	}
	inside, err := n.Listen(ctx, api.String())
	if err != nil {
		return err
	}
	host := strings.TrimPrefix(n.cluster.Config.Host, "https://")
	go forward(inside, func() (net.Conn, error) { return (&net.Dialer{}).Dial("tcp", host) })
	outside, err := n.listenForKubelet(ctx)
	if err != nil {
		return err
	}
	n.later(outside)
	go forward(outside, func() (net.Conn, error) { return n.box.net.dial(net.JoinHostPort(nodeAddress, kubeletPort)) })
	return n.writeCredentials(n.cluster)
}

// listenForKubelet takes a loopback address that no other node of the machine has. A node is named after it because the API
// server, which is not in the node's namespaces, goes by a node's name first.
func (n *Node) listenForKubelet(ctx context.Context) (l net.Listener, err error) {
	for i := range maxNodes {
		n.Name = fmt.Sprintf("127.0.0.%d", i+1)
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(n.Name, kubeletPort)); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no loopback address is left for a kubelet: %w", err)
}

// Listen listens at an address as pods and the node itself see it, until Stop. The address must be numeric: one of
// 198.18.0.0/15 or 169.254.0.0/16, with a port.
func (n *Node) Listen(ctx context.Context, address string) (net.Listener, error) {
	if _, err := netip.ParseAddrPort(address); err != nil {
		return nil, fmt.Errorf("listen on the node: address %q must be numeric, with a port: %w", address, err)
	}
	l, err := n.box.net.listen(ctx, address)
	if err == nil {
		n.later(l)
	}
	return l, err
}

// Resolve lets a host name, or *.name for all names below it, lead to an address in the eyes of pods and the node itself.
func (n *Node) Resolve(host string, address netip.Addr) { n.names.set(host, address) }

// forward copies between each connection that is taken and one that is made for it.
func forward(l net.Listener, dial func() (net.Conn, error)) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			to, err := dial()
			if err != nil {
				_ = from.Close() // The client tries again.
				return
			}
			join(from, to)
		}()
	}
}

// join copies both ways until both have ended. The end of one way is passed on, or a client that has said all would wait
// forever for a server that waits for more.
func join(a, b net.Conn) {
	done := make(chan struct{})
	go func() { defer close(done); pour(a, b) }()
	pour(b, a)
	<-done
	_, _ = a.Close(), b.Close()
}

func pour(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_, _ = to.Close(), from.Close()
}
