package egress

import (
	"net/netip"
	"strings"
	"testing"
)

func TestNewRefusesMalformedEntries(t *testing.T) {
	for entry, says := range map[string]string{
		"":                         "must name a host",
		"http://":                  "must name a host",
		":8080":                    "must name a host",
		"https://hooks.local":      "must not begin with https://",
		"hooks.local:0":            "a port from 1 to 65535",
		"hooks.local:65536":        "a port from 1 to 65535",
		"hooks.local:+80":          "a port from 1 to 65535",
		"hooks.local:":             "a port from 1 to 65535",
		"http://hooks.local:8080/": "a port from 1 to 65535",
		"hooks.local/hook":         "must be a host name, an address",
		"10.0.0.0/33":              "must be a host name, an address",
		"10.0.0.256":               "must be a host name, an address",
		"010.0.0.1":                "must be a host name, an address",
		"10.1":                     "must be a host name, an address",
		"0x0a000001":               "must be a host name, an address",
		"fe80::1%eth0":             "a port from 1 to 65535",
		"[fe80::1%eth0]:80":        "must be a host name, an address",
		"::ffff:10.0.0.1":          "of IPv4",
		"::ffff:10.0.0.0/104":      "of IPv4",
		"*.local":                  "letters, digits, hyphens and dots",
		"hooks local":              "letters, digits, hyphens and dots",
		"hooks..local":             "letters, digits, hyphens and dots",
		"zoë.local":                "letters, digits, hyphens and dots",
		"ftp://hooks.local":        "a port from 1 to 65535",
	} {
		_, err := New([]string{"10.0.0.0/8", entry})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), `"`+entry+`" must`) {
			t.Errorf("%q: got %v, want %q", entry, err, says)
		}
	}
}

func TestEntriesAllow(t *testing.T) {
	for _, test := range []struct {
		entry, host, to string
		plain, want     bool
	}{
		{entry: "10.1.0.0/16:8443", to: "10.1.2.3:8443", want: true},
		{entry: "10.1.0.0/16:8443", to: "10.1.2.3:443"},
		{entry: "10.1.0.0/16:8443", to: "10.2.2.3:8443"},
		{entry: "10.1.0.0/16:8443", to: "10.1.2.3:8443", plain: true},
		{entry: "10.1.2.3/16", to: "10.1.9.9:22", want: true},
		{entry: "http://127.0.0.0/8", to: "127.0.0.1:3000", plain: true, want: true},
		{entry: "http://127.0.0.0/8", to: "127.0.0.1:3000", want: true},
		{entry: "127.0.0.1", to: "127.0.0.1:3000", want: true},
		{entry: "127.0.0.1", to: "127.0.0.2:3000"},
		{entry: "127.0.0.1", to: "[::ffff:127.0.0.1]:3000"},
		{entry: "127.0.0.1:3000", to: "127.0.0.1:3000", want: true},
		{entry: "127.0.0.1:3000", to: "127.0.0.1:3001"},
		{entry: "http://hooks.local:8080", host: "hooks.local", to: "10.0.0.1:8080", plain: true, want: true},
		{entry: "http://hooks.local:8080", host: "HOOKS.Local.", to: "10.0.0.1:8080", plain: true, want: true},
		{entry: "http://hooks.local:8080", host: "hooks.local", to: "10.0.0.1:8081", plain: true},
		{entry: "hooks.local", host: "hooks.local", to: "10.0.0.1:8080", plain: true},
		{entry: "hooks.local", host: "hooks.local.evil.example", to: "10.0.0.1:443"},
		{entry: "hooks.local", host: "hooks.local", to: "[fd00::1]:443", want: true},
		{entry: "fd00::/8", to: "[fd12::1]:80", want: true},
		{entry: "[fd00::/8]:443", to: "[fd12::1]:443", want: true},
		{entry: "[fd00::/8]:443", to: "[fd12::1]:8443"},
		{entry: "fd00::/8:443", to: "[fd12::1]:8443"},
		{entry: "[::1]:3000", to: "[::1]:3000", want: true},
		{entry: "http://[::1]", to: "[::1]:3000", plain: true, want: true},
		{entry: "fe80::/10", to: "[fe80::1%eth0]:443"},
	} {
		guard, err := New([]string{test.entry})
		if err != nil {
			t.Errorf("%s: %v", test.entry, err)
			continue
		}
		if problem := guard.refusal(test.host, netip.MustParseAddrPort(test.to), test.plain); (problem == "") != test.want {
			t.Errorf("%s, %s at %s, plain %t: got %q", test.entry, test.host, test.to, test.plain, problem)
		}
	}
}

func TestOnlyPublicAddressesAreAllowed(t *testing.T) {
	for addr, want := range map[string]bool{
		"93.184.215.14": true, "1.1.1.1": true, "8.8.8.8": true, "223.255.255.254": true, "100.63.255.255": true, "100.128.0.1": true,
		"2606:2800:220:1::1": true, "2a00:1450:4001::1": true, "2001:4860:4860::8888": true, "2001:200::1": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "100.64.0.1": false, "100.100.100.200": false, "127.0.0.1": false,
		"127.255.255.255": false, "168.63.129.16": false, "169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.0.0.192": false, "192.0.2.1": false, "192.31.196.1": false, "192.52.193.1": false, "192.88.99.1": false,
		"192.168.1.1": false, "192.175.48.1": false, "198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false,
		"203.0.113.1": false, "224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::93.184.215.14": false, "::ffff:93.184.215.14": false, "::ffff:169.254.169.254": false,
		"::ffff:0:93.184.215.14": false, "64:ff9b::93.184.215.14": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false,
		"100::1": false, "100:0:0:1::1": false, "2001::1": false, "2001:0:4136:e378:8000:63bf:3fff:fdd2": false, "2001:1::1": false,
		"2001:2::1": false, "2001:10::1": false, "2001:20::1": false, "2001:db8::1": false, "2002::1": false, "2002:a9fe:a9fe::1": false,
		"2002:5db8:d70e::1": false, "2620:4f:8000::1": false, "3fff::1": false, "5f00::1": false, "fc00::1": false, "fd00:ec2::254": false,
		"fd20:ce::254": false, "fe80::1": false, "fe80::1%eth0": false, "2a00:1450:4001::1%eth0": false, "fec0::1": false,
		"ff02::1": false, "ffff::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: got %t, want %t", addr, got, want)
		}
	}
}

func TestTheMachinesOwnAddressesAreRefused(t *testing.T) {
	for addr, want := range map[string]bool{"127.0.0.1": true, "93.184.215.14": false} {
		if got := isOwn(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: got %t, want %t", addr, got, want)
		}
	}
}
