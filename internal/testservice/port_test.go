package testservice

import "testing"

func TestFreePortNeverReturnsTheSamePortTwiceInATest(t *testing.T) {
	seen := make(map[int]bool)
	for range 500 {
		port := freePort(t)
		if seen[port] {
			t.Fatalf("port %d was given twice, though nothing listens on it yet", port)
		}
		seen[port] = true
	}
}
