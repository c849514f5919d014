// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package node

import (
	"context"
	"net"

	"github.com/runner-identity/runner-identity/testbed/node/internal/box"
)

// Without Linux there is no box, and check says so before anybody asks for one.
type (
	boxed struct{ net *netns }
	netns struct{}
)

func (n *Node) startBox(context.Context, machine) error { return ErrNoNode }

func (b *boxed) run(box.Program) error { return ErrNoNode }

func (b *boxed) ended() error { return nil }

func (b *boxed) file(path string) string { return path }

func (b *boxed) stop() {}

func (n *netns) listen(context.Context, string) (net.Listener, error) { return nil, ErrNoNode }

func (n *netns) listenPacket(context.Context, string) (net.PacketConn, error) { return nil, ErrNoNode }

func (n *netns) dial(string) (net.Conn, error) { return nil, ErrNoNode }
