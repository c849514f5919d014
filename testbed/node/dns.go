// SPDX-License-Identifier: Apache-2.0

package node

import (
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// ttl is how long an answer may be kept: not at all, for tests.
const ttl = 0

// names is the node's name server: pods find the hosts that are served to them by their real names, with no change to the pods.
// It knows no others.
type names struct {
	mu  sync.Mutex
	all map[string]netip.Addr // by name, without a dot at its end; *.name is all names below it
}

func newNames() *names { return &names{all: map[string]netip.Addr{}} }

func (n *names) set(name string, a netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all[strings.ToLower(name)] = a
}

// find takes the name itself before *.parents, the nearest first.
func (n *names) find(name string) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	a, ok := n.all[name]
	for !ok && name != "" {
		_, name, _ = strings.Cut(name, ".")
		a, ok = n.all["*."+name]
	}
	return a, ok
}

// serve answers until the connection is closed.
func (n *names) serve(c net.PacketConn) {
	buf := make([]byte, 1<<16)
	for {
		size, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply, err := n.answer(buf[:size]); err == nil {
			_, _ = c.WriteTo(reply, from) // A lost answer is asked for again.
		}
	}
}

// answer answers a query of one question, which is all that there are.
func (n *names) answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionDesired: m.RecursionDesired, RecursionAvailable: true}
	m.Answers, m.Authorities, m.Additionals = nil, nil, nil
	for _, q := range m.Questions {
		a, ok := n.find(q.Name.String())
		if !ok {
			m.RCode = dnsmessage.RCodeNameError
		} else if q.Type == dnsmessage.TypeA {
			h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: ttl}
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		}
	}
	return m.Pack()
}
