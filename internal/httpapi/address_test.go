package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestClientAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		behaviour string
		peer      string
		forwarded []string
		want      string
	}{
		{"is the peer's", "203.0.113.5:4711", nil, "203.0.113.5"},
		{"is the peer's, whatever a stranger claims", "203.0.113.5:4711", []string{"198.51.100.7"}, "203.0.113.5"},
		{"is what a trusted proxy says", "10.0.0.1:4711", []string{"198.51.100.7"}, "198.51.100.7"},
		{"is the rightmost one that is not a trusted proxy's", "10.0.0.1:4711", []string{"192.0.2.66, 198.51.100.7,10.1.1.1 , 10.2.2.2"}, "198.51.100.7"},
		{"is read from several headers, starting with the last", "10.0.0.1:4711", []string{"192.0.2.66, 198.51.100.7", "10.1.1.1"}, "198.51.100.7"},
		{"is the leftmost one if all are trusted", "10.0.0.1:4711", []string{"10.3.3.3, 10.2.2.2"}, "10.3.3.3"},
		{"is the proxy's if it sends no header", "10.0.0.1:4711", nil, "10.0.0.1"},
		{"is the last one before an entry that is not an address", "10.0.0.1:4711", []string{"198.51.100.7, unknown, 10.2.2.2"}, "10.2.2.2"},
		{"is the proxy's if the last entry is empty", "10.0.0.1:4711", []string{"198.51.100.7,"}, "10.0.0.1"},
		{"may be IPv6", "[2001:db8::5]:4711", nil, "2001:db8::5"},
		{"may be IPv6 behind an IPv6 proxy", "[fd00::1]:4711", []string{"2001:db8::7"}, "2001:db8::7"},
		{"is IPv4 if it is an IPv4-mapped IPv6 address", "[::ffff:10.0.0.1]:4711", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"may be followed by a port", "10.0.0.1:4711", []string{"198.51.100.7:5678"}, "198.51.100.7"},
		{"may be followed by a port at every hop", "10.0.0.1:4711", []string{"192.0.2.66:1, 198.51.100.7:5678, 10.1.1.1:80"}, "198.51.100.7"},
		{"may be IPv6 with a port", "10.0.0.1:4711", []string{"[2001:db8::7]:80"}, "2001:db8::7"},
		{"may be IPv6 in brackets without a port", "10.0.0.1:4711", []string{"[2001:db8::7]"}, "2001:db8::7"},
		{"is IPv4 if it is an IPv4-mapped IPv6 address with a port", "10.0.0.1:4711", []string{"[::ffff:198.51.100.7]:80"}, "198.51.100.7"},
		{"ends like a port if IPv6 has no brackets", "10.0.0.1:4711", []string{"2001:db8::7:80"}, "2001:db8::7:80"},
		{"is the last one before an entry with a port that cannot exist", "10.0.0.1:4711", []string{"198.51.100.7:65536, 10.2.2.2"}, "10.2.2.2"},
		{"is the last one before IPv4 in brackets", "10.0.0.1:4711", []string{"[198.51.100.7], 10.2.2.2"}, "10.2.2.2"},
		{"is what the listener says if that is not an address", "@", []string{"198.51.100.7"}, "@"},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}}
			if got := clientAddress(r, proxies); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestClientsOfOneIPv6NetworkAreCountedTogether(t *testing.T) {
	a := &API{}
	for peer, want := range map[string]string{
		"203.0.113.5:4711":             "address:203.0.113.5",
		"[2001:db8:1:2::5]:4711":       "address:2001:db8:1:2::/64",
		"[2001:db8:1:2:a:b:c:d]:80":    "address:2001:db8:1:2::/64",
		"[2001:db8:1:3::5]:4711":       "address:2001:db8:1:3::/64",
		"[fe80::1%eth0]:4711":          "address:fe80::/64",
		"[::ffff:203.0.113.5]:4711":    "address:203.0.113.5",
		"a unix socket has no address": "address:a unix socket has no address",
	} {
		if got := a.subjectOf(&exchange{r: &http.Request{RemoteAddr: peer}}); got != want {
			t.Errorf("%s is counted as %s, want %s", peer, got, want)
		}
	}
	behindProxy := &http.Request{RemoteAddr: "10.0.0.1:4711", Header: http.Header{"X-Forwarded-For": {"2001:db8:1:2::5"}}}
	if got := a.subjectOf(&exchange{r: behindProxy}); got != "address:10.0.0.1" {
		t.Errorf("a stranger's X-Forwarded-For is believed: it is counted as %s", got)
	}
	a.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	if got := a.subjectOf(&exchange{r: behindProxy}); got != "address:2001:db8:1:2::/64" {
		t.Errorf("a client behind a trusted proxy is counted as %s", got)
	}
}

func TestLongForwardingHeaderFromAStrangerCostsNothing(t *testing.T) {
	r := &http.Request{RemoteAddr: "203.0.113.5:4711", Header: http.Header{"X-Forwarded-For": {strings.Repeat("1,", 50_000)}}}
	if n := testing.AllocsPerRun(10, func() { clientAddress(r, nil) }); n > 1 {
		t.Errorf("%v allocations, want only the address itself", n)
	}
	r.RemoteAddr = "10.0.0.1:4711"
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	if n := testing.AllocsPerRun(10, func() { clientAddress(r, trusted) }); n > 3 {
		t.Errorf("%v allocations through a trusted proxy", n)
	}
}
