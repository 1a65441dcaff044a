package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// FuzzForwarded compares clientAddress with a simpler implementation. That implementation returns the last address in the
// list of all hops that does not belong to a trusted proxy.
func FuzzForwarded(f *testing.F) {
	f.Add("10.0.0.1:4711", "192.0.2.66, 198.51.100.7", "10.1.1.1 , 10.2.2.2")
	f.Add("[fd00::1]:4711", "2001:db8::7", "")
	f.Add("[::ffff:10.0.0.1]:1", "::ffff:198.51.100.7", "10.0.0.2,")
	f.Add("[fd00::1%eth0]:1", "unknown", "fd00::2%\x00")
	f.Add("@", "1.2.3.4", "a")
	f.Add("10.0.0.1:1", "198.51.100.7:5678", "[fd00::2]:80")
	f.Add("10.0.0.1:1", "[2001:db8::7]", "10.0.0.2:65536")
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	f.Fuzz(func(t *testing.T, peer, first, second string) {
		r := &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {first, second}}}
		for _, trusted := range [][]netip.Prefix{nil, trusted} {
			if got, want := clientAddress(r, trusted), plainClient(peer, first+","+second, trusted); got != want {
				t.Errorf("%q for %q, %q is %q, want %q", peer, first, second, got, want)
			}
		}
		a := &API{Config: Config{TrustedProxies: trusted}}
		_, err := netip.ParseAddrPort(peer) // fails only for a peer that cannot be real
		if subject := a.subjectOf(&exchange{r: r}); !strings.HasPrefix(subject, "address:") || err == nil && strings.Contains(subject, "%") {
			t.Errorf("%q for %q, %q is counted as %q", peer, first, second, subject)
		}
	})
}

func plainClient(peer, forwarded string, trusted []netip.Prefix) string {
	host, port, isIPv4 := strings.Cut(peer, ":")
	if len(trusted) == 0 && isIPv4 && host != "" && port != "" && host[0] != '[' {
		return host // the host needs no parsing, because a real peer always has an address
	}
	addrPort, err := netip.ParseAddrPort(peer)
	if err != nil {
		return peer
	}
	client := addrPort.Addr().Unmap()
	for _, hop := range slices.Backward(strings.Split(forwarded, ",")) {
		isTrusted := slices.ContainsFunc(trusted, func(network netip.Prefix) bool { return network.Contains(client.WithZone("")) })
		next := plainHop(strings.TrimSpace(hop))
		if !isTrusted || !next.IsValid() {
			break
		}
		client = next.Unmap()
	}
	return client.String()
}

// plainHop returns the zero address if the hop is none of the three forms of an address.
func plainHop(hop string) netip.Addr {
	if inBrackets, closed := strings.CutSuffix(hop, "]"); closed && strings.HasPrefix(hop, "[") {
		if addr, err := netip.ParseAddr(inBrackets[1:]); err == nil && addr.Is6() {
			return addr
		}
	}
	if withPort, err := netip.ParseAddrPort(hop); err == nil {
		return withPort.Addr()
	}
	addr, _ := netip.ParseAddr(hop)
	return addr
}

// FuzzCursor reads any text as a cursor of each list. A list must accept only the cursors that the service writes for
// that list.
func FuzzCursor(f *testing.F) {
	f.Add(string(appendCursor(nil, petCursor, 7)), int64(7))
	f.Add(string(appendCursor(nil, categoryCursor, -1)), int64(-1))
	f.Add("AgAAAAAAAAAB\n", int64(1<<53))
	f.Add("", int64(0))
	f.Fuzz(func(t *testing.T, text string, id int64) {
		lists := []byte{petCursor, orderCursor, categoryCursor}
		for _, list := range lists {
			if read, ok := parseCursor(list, text); ok && string(appendCursor(nil, list, read)) != text {
				t.Errorf("%q is read as %d of list %d, whose cursor is another one", text, read, list)
			}
			written := string(appendCursor(nil, list, id))
			for _, other := range lists {
				if read, ok := parseCursor(other, written); ok != (list == other) || ok && read != id {
					t.Errorf("%q, which is %d of list %d, is read as %d of list %d: %v", written, id, list, read, other, ok)
				}
			}
		}
	})
}
