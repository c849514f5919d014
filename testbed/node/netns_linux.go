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
type netns struct {
	calls chan func()
	left  chan struct{} // closed by leave
}

// enter enters the network namespace of a process with one thread.
func enter(pid int) (*netns, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	n := &netns{calls: make(chan func()), left: make(chan struct{})}
	entered := make(chan error)
	go n.serve(int(file.Fd()), entered)
	return n, <-entered
}

// serve never unlocks its thread, so that the thread ends with it and never runs anything else.
func (n *netns) serve(file int, entered chan<- error) {
	runtime.LockOSThread()
	entered <- unix.Setns(file, unix.CLONE_NEWNET)
	for {
		select {
		case call := <-n.calls:
			call()
		case <-n.left:
			return
		}
	}
}

func (n *netns) leave() { close(n.left) }

// do runs a function in the namespace. Go makes the socket of a numeric address on the thread that asks for it. Connections that
// come in while the node is stopped may ask after it has left.
func (n *netns) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case n.calls <- func() { done <- f() }:
		return <-done
	case <-n.left:
		return net.ErrClosed
	}
}

func (n *netns) listen(ctx context.Context, address string) (l net.Listener, err error) {
	err = n.do(func() (err error) { l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address); return err })
	return l, err
}

func (n *netns) listenPacket(ctx context.Context, address string) (c net.PacketConn, err error) {
	err = n.do(func() (err error) { c, err = (&net.ListenConfig{}).ListenPacket(ctx, "udp", address); return err })
	return c, err
}

func (n *netns) dial(address string) (c net.Conn, err error) {
	err = n.do(func() (err error) { c, err = net.Dial("tcp", address); return err })
	return c, err
}
