// SPDX-License-Identifier: Apache-2.0

package node

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

func ask(t *testing.T, n *names, name string, kind dnsmessage.Type) dnsmessage.Message {
	t.Helper()
	query := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}},
	}
	packed, err := query.Pack()
	require.NoError(t, err)
	packed, err = n.answer(packed)
	require.NoError(t, err)
	var m dnsmessage.Message
	require.NoError(t, m.Unpack(packed))
	assert.Equal(t, uint16(7), m.ID)
	return m
}

func TestNamesAreFound(t *testing.T) {
	n := newNames()
	n.set("sts.eu-west-1.amazonaws.com", netip.MustParseAddr("198.18.1.1"))
	n.set("*.dkr.ecr.eu-west-1.amazonaws.com", netip.MustParseAddr("198.18.1.2"))
	n.set("*.amazonaws.com", netip.MustParseAddr("198.18.1.3"))
	for name, tt := range map[string]struct{ name, want string }{
		"by their own name":                      {"sts.eu-west-1.amazonaws.com.", "198.18.1.1"},
		"in whatever case":                       {"STS.eu-west-1.AmazonAWS.com.", "198.18.1.1"},
		"below a name":                           {"111122223333.dkr.ecr.eu-west-1.amazonaws.com.", "198.18.1.2"},
		"below the nearest of several names":     {"ecr.eu-west-1.amazonaws.com.", "198.18.1.3"},
		"not if only their parent is":            {"amazonaws.com.", ""},
		"not with the search domains of a pod":   {"sts.eu-west-1.amazonaws.com.cluster.local.", ""},
		"not if they are elsewhere in the world": {"example.com.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := ask(t, n, tt.name, dnsmessage.TypeA)
			if tt.want == "" {
				assert.Equal(t, dnsmessage.RCodeNameError, m.RCode)
				assert.Empty(t, m.Answers)
				return
			}
			require.Len(t, m.Answers, 1)
			assert.Equal(t, tt.want, netip.AddrFrom4(m.Answers[0].Body.(*dnsmessage.AResource).A).String())
		})
	}
}

func TestANameWithoutAnIPv6AddressIsStillAName(t *testing.T) {
	n := newNames()
	n.set("sts.amazonaws.com", netip.MustParseAddr("198.18.1.1"))

	m := ask(t, n, "sts.amazonaws.com.", dnsmessage.TypeAAAA)

	assert.Equal(t, dnsmessage.RCodeSuccess, m.RCode, "NXDOMAIN here would hide the other address from musl")
	assert.Empty(t, m.Answers)
}

func TestWhatIsNoQueryIsNotAnswered(t *testing.T) {
	_, err := newNames().answer([]byte("hello"))
	assert.Error(t, err)
}

func FuzzAnswer(f *testing.F) {
	n := newNames()
	n.set("*.amazonaws.com", netip.MustParseAddr("198.18.1.1"))
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, query []byte) {
		reply, err := n.answer(query)
		if err == nil {
			require.NoError(t, new(dnsmessage.Message).Unpack(reply))
		}
	})
}
