package egress

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

const (
	sayPlain   = "must begin with https://"
	sayPort    = "must use port 443 or 8443"
	sayAddress = "must not lead to an address that is private, reserved or the server's own"
	sayNumber  = "must write an address as four decimal numbers, such as 192.0.2.1"
	sayName    = "must have a host name of letters, digits, hyphens and dots; write others in their xn-- form"
	sayURL     = "must be a URL such as https://example.com/hook"
)

func TestCheckURL(t *testing.T) {
	longest := "https://example.com/" + strings.Repeat("a", 2000-len("https://example.com/"))
	for _, test := range []struct{ url, allow, want string }{
		{url: "https://example.com/hook"},
		{url: "HTTPS://Example.COM"},
		{url: "https://example.com.:8443/a?b=c&d=%20"},
		{url: "https://xn--bcher-kva.example/"},
		{url: "https://93.184.215.14/"},
		{url: "https://[2606:2800:220:1::1]:8443/"},
		{url: "https://1and1.example1/"},
		{url: longest},
		{url: longest + "a", want: "must have at most 2,000 characters"},
		{url: "", want: sayPlain},
		{url: "example.com/hook", want: sayPlain},
		{url: "//example.com/hook", want: sayPlain},
		{url: "http://example.com/", want: sayPlain},
		{url: "ftp://example.com/", want: sayPlain},
		{url: "file:///etc/passwd", want: sayPlain},
		{url: "https:example.com", want: sayURL},
		{url: "https://exa mple.com/", want: sayURL},
		{url: "https://example.com/a b", want: sayURL},
		{url: "https://example.com\\@10.0.0.1/", want: sayURL},
		{url: "https://example.com/\x00", want: sayURL},
		{url: "https://%31%30.0.0.1/", want: sayURL},
		{url: "https://[::1/", want: sayURL},
		{url: "https:///hook", want: "must name a host"},
		{url: "https://:443/hook", want: "must name a host"},
		{url: "https://rex@example.com/", want: "must not contain a user name or a password"},
		{url: "https://:@example.com/", want: "must not contain a user name or a password"},
		{url: "https://example.com/#top", want: "must not have a fragment, because it would not be sent"},
		{url: "https://example.com/#", want: "must not have a fragment, because it would not be sent"},
		{url: "https://example.com:0/", want: "must have a port from 1 to 65535, or none"},
		{url: "https://example.com:0443/", want: "must have a port from 1 to 65535, or none"},
		{url: "https://example.com:/", want: "must have a port from 1 to 65535, or none"},
		{url: "https://example.com:65979/", want: "must have a port from 1 to 65535, or none"},
		{url: "https://example.com:80/", want: sayPort},
		{url: "https://93.184.215.14:22/", want: sayPort},
		{url: "https://10.0.0.1/", want: sayAddress},
		{url: "https://169.254.169.254/latest/meta-data", want: sayAddress},
		{url: "https://127.0.0.1:8443/", want: sayAddress},
		{url: "https://[::1]/", want: sayAddress},
		{url: "https://[::]/", want: sayAddress},
		{url: "https://[::ffff:93.184.215.14]/", want: sayAddress},
		{url: "https://[::ffff:7f00:1]/", want: sayAddress},
		{url: "https://[64:ff9b::a9fe:a9fe]/", want: sayAddress},
		{url: "https://[2002:7f00:1::]/", want: sayAddress},
		{url: "https://[fe80::1%25eth0]/", want: sayAddress},
		{url: "https://[2606:2800:220:1::1%25eth0]/", want: sayAddress},
		{url: "https://[fd00:ec2::254]/", want: sayAddress},
		{url: "https://2130706433/", want: sayNumber},
		{url: "https://0x7f000001/", want: sayNumber},
		{url: "https://0X7F.1/", want: sayNumber},
		{url: "https://0x/", want: sayNumber},
		{url: "https://127.1/", want: sayNumber},
		{url: "https://127.0.0.1./", want: sayNumber},
		{url: "https://0177.0.0.1/", want: sayNumber},
		{url: "https://127.0.0.01/", want: sayNumber},
		{url: "https://example.1/", want: sayNumber},
		{url: "https://1.2.3.4.5/", want: sayNumber},
		{url: "https://１２７.0.0.1/", want: sayNumber},
		{url: "https://127.0.0.１/", want: sayName},
		{url: "https://bücher.example/", want: sayName},
		{url: "https://exa%E3%80%82mple/", want: sayName},
		{url: "https://a..example/", want: sayName},
		{url: "https://./", want: sayName},
		{url: "https://" + strings.Repeat("a", 64) + ".example/", want: sayName},
		{url: "https://" + strings.Repeat("abcdefghi.", 26) + "example/", want: sayName},

		{url: "https://10.1.2.3/", allow: "10.0.0.0/8"},
		{url: "https://10.1.2.3:9000/", allow: "10.0.0.0/8"},
		{url: "http://10.1.2.3/", allow: "10.0.0.0/8", want: sayPlain},
		{url: "https://10.1.2.3:9000/", allow: "10.0.0.0/8:8443", want: sayPort},
		{url: "https://11.1.2.3:9000/", allow: "10.0.0.0/8", want: sayPort},
		{url: "https://192.168.0.1/", allow: "10.0.0.0/8", want: sayAddress},
		{url: "https://[::ffff:10.0.0.1]/", allow: "10.0.0.0/8", want: sayAddress},
		{url: "https://0xa000001/", allow: "10.0.0.0/8", want: sayNumber},
		{url: "http://127.0.0.1:3000/hook", allow: "http://127.0.0.0/8"},
		{url: "http://hooks.local:8080/", allow: "http://hooks.local:8080"},
		{url: "http://hooks.local/", allow: "http://hooks.local:80"},
		{url: "http://hooks.local/", allow: "http://hooks.local:8080", want: sayPlain},
		{url: "https://hooks.local:9000/", allow: "hooks.local:9000"},
		{url: "https://hooks.local:9001/", allow: "hooks.local:9000", want: sayPort},
		{url: "http://other.local:8080/", allow: "http://hooks.local:8080", want: sayPlain},
		{url: "http://anything.local:3000/", allow: "http://127.0.0.0/8"}, // DNS tells
		{url: "https://anything.local:9000/", allow: "10.0.0.0/8:9000"},   // DNS tells
		{url: "https://anything.local:9001/", allow: "10.0.0.0/8:9000", want: sayPort},
		{url: "http://rex@127.0.0.1/", allow: "http://127.0.0.0/8", want: "must not contain a user name or a password"},
	} {
		var allow []string
		if test.allow != "" {
			allow = []string{test.allow}
		}
		guard, err := New(allow)
		if err != nil {
			t.Fatal(err)
		}
		if got := guard.CheckURL(test.url); got != test.want {
			t.Errorf("%s with %q: got %q, want %q", test.url, test.allow, got, test.want)
		}
	}
}

// A URL that is accepted by default leads to a name, or to a public address however a resolver reads it.
func FuzzCheckURL(f *testing.F) {
	guard, err := New(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if guard.CheckURL(text) != "" {
			return
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" || u.User != nil || len(text) > MaxURLLength {
			t.Fatalf("%q was accepted: %v", text, err)
		}
		if port := u.Port(); port != "" && port != "443" && port != "8443" {
			t.Fatalf("%q was accepted with its port", text)
		}
		if addr, ok := lenientAddress(u.Hostname()); ok && !isPublic(addr) {
			t.Fatalf("%q was accepted, although it may lead to %s", text, addr)
		}
	})
}

// lenientAddress reads an address the way the C library and browsers do: one to four numbers in decimal, octal or
// hexadecimal, the last of which fills the rest.
func lenientAddress(host string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, true
	}
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(strings.ToLower(part), 0, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			n <<= 8 * (3 - i)
		}
		sum += n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// A rule that is accepted opens at most its own port.
func FuzzNew(f *testing.F) {
	f.Fuzz(func(t *testing.T, entry string) {
		guard, err := New([]string{entry})
		if err != nil {
			return
		}
		r := guard.allowed[0]
		if (r.host == "") != r.network.IsValid() || r.plain != strings.HasPrefix(entry, "http://") {
			t.Fatalf("%q became %+v", entry, r)
		}
		if r.port != 0 && !strings.HasSuffix(entry, strconv.Itoa(int(r.port))) {
			t.Fatalf("%q became %+v", entry, r)
		}
	})
}
