package testservice

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns an address on which nothing listens. It is for a server that cannot choose its port itself, that
// keeps its address when it restarts, or that a test must not find. Until the test ends, no other test and no bench gets
// the address.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freePort(t))
}

// freePort returns the port of a FreeAddress. It is below the ports of outgoing connections, so that none of them takes it.
// The test holds the UDP port of the same number until it ends, which is what keeps other processes away: everything that
// chooses a port in this range, the bench too, needs the UDP port first.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(10000)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		held, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		t.Cleanup(func() { held.Close() })
		listener, err := net.Listen("tcp", address)
		if err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatal("no free port was found between 20000 and 29999")
	return 0
}
