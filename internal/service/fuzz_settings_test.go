package service

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// FuzzSettings parses any text as --base-url and as --trusted-proxies. Accepted text must give usable links and networks.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"https://api.example.com/v1", "http://h/a//v1/", "http://[::1]:80", "http://%C3%A9/v1", "https://h/%3C", "http://h:x",
		"10.0.0.0/8, ::1", "10.0.0.1/8", "::ffff:10.0.0.1", "::ffff:10.0.0.0/104", "::ffff:10.0.0.0/90", "fe80::1%eth0", "::/0,", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkBaseURL(t, text)
		checkNetworks(t, text)
	})
}

// checkBaseURL checks that a header can contain links under the base URL, and that these links lead to the host in the text.
func checkBaseURL(t *testing.T, text string) {
	base, err := parseBaseURL(text)
	if err != nil || base == "" {
		return
	}
	link := base + "/v1/pets"
	u, err := url.Parse(link)
	if err != nil || strings.ContainsFunc(link, func(c rune) bool { return c <= ' ' || c > '~' || c == '<' || c == '>' || c == '"' }) {
		t.Errorf("--base-url %q makes links such as %q: %v", text, link, err)
	}
	if asked, err := url.Parse(text); err == nil && u != nil && u.Host != asked.Host {
		t.Errorf("--base-url %q makes links to %q", text, u.Host)
	}
	if again, err := parseBaseURL(base + "/v1"); err != nil || again != base {
		t.Errorf("--base-url %q is %q, and with its version %q, %v", text, base, again, err)
	}
}

// checkNetworks checks that the parsed networks contain every address in the text, in the form in which client addresses
// appear.
func checkNetworks(t *testing.T, text string) {
	networks, err := parseNetworks(text)
	if err != nil {
		return
	}
	for field := range strings.SplitSeq(text, ",") {
		address, _, _ := strings.Cut(strings.TrimSpace(field), "/")
		addr, err := netip.ParseAddr(address)
		if err != nil {
			continue
		}
		peer, trusted := addr.Unmap().WithZone(""), false
		for _, network := range networks {
			trusted = trusted || network.Contains(peer)
		}
		if !trusted {
			t.Errorf("--trusted-proxies %q is parsed as %v, which does not contain %s", text, networks, peer)
		}
	}
}
