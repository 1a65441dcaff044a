package testservice

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns an address on which nothing listens. Use it for a server that cannot choose its own port, for a
// server that keeps its address when it restarts, or for an address where a test must find no server. Until the test ends,
// no other test and no bench gets the address.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("127.0.0.1:%d", freePort(t))
}

// freePort returns the port of a FreeAddress. The port is below the range for outgoing connections, so no outgoing
// connection takes it. The test holds the UDP port with the same number until the test ends. The held UDP port keeps other
// processes away: every test and bench that chooses a port in this range first takes the UDP port.
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
