package egress

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer is a name server on UDP. Each look-up of a name takes the next of its answers; the last one repeats.
type nameServer struct {
	mu      sync.Mutex
	answers map[string][][]string // the addresses of IPv4, by name and look-up
	asked   map[string]int
}

// resolver starts the name server, and returns a resolver that asks it.
func (s *nameServer) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s.mu.Lock()
	s.asked = make(map[string]int)
	s.mu.Unlock()
	go func() {
		question := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(question)
			if err != nil {
				return
			}
			if answer, err := s.answer(question[:n]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (s *nameServer) answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Additionals = true, nil
	for _, q := range m.Questions {
		if q.Type != dnsmessage.TypeA {
			continue
		}
		for _, addr := range s.next(strings.TrimSuffix(q.Name.String(), ".")) {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
				Body:   &dnsmessage.AResource{A: [4]byte(net.ParseIP(addr).To4())},
			})
		}
	}
	return m.Pack()
}

func (s *nameServer) next(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := s.answers[name]
	if len(answers) == 0 {
		return nil
	}
	s.asked[name]++
	return answers[min(s.asked[name], len(answers))-1]
}
