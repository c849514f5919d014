// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A netns makes sockets in another network namespace. A socket stays in the namespace that it was made in, whichever thread
// uses it.
type netns struct{ calls chan func() }

// enter enters the network namespace of a process with one thread.
func enter(pid int) (*netns, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	n := &netns{calls: make(chan func())}
	entered := make(chan error)
	go n.serve(int(file.Fd()), entered)
	return n, <-entered
}

// serve never unlocks its thread, so that the thread ends with it and never runs anything else.
func (n *netns) serve(file int, entered chan<- error) {
	runtime.LockOSThread()
	entered <- unix.Setns(file, unix.CLONE_NEWNET)
	for call := range n.calls {
		call()
	}
}

func (n *netns) leave() { close(n.calls) }

// do runs a function in the namespace. Go makes the socket of a numeric address on the thread that asks for it.
func (n *netns) do(f func()) {
	done := make(chan struct{})
	n.calls <- func() { defer close(done); f() }
	<-done
}

func (n *netns) listen(ctx context.Context, address string) (l net.Listener, err error) {
	n.do(func() { l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address) })
	return l, err
}

func (n *netns) listenPacket(ctx context.Context, address string) (c net.PacketConn, err error) {
	n.do(func() { c, err = (&net.ListenConfig{}).ListenPacket(ctx, "udp", address) })
	return c, err
}

func (n *netns) dial(address string) (c net.Conn, err error) {
	n.do(func() { c, err = net.Dial("tcp", address) })
	return c, err
}
