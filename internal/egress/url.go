package egress

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// MaxURLLength is how many characters a URL may have.
const MaxURLLength = 2000

// CheckURL returns what the rules have against a URL, or "". What only DNS can tell, it leaves to the connection.
func (g *Guard) CheckURL(text string) (problem string) {
	if len(text) > MaxURLLength {
		return "must have at most 2,000 characters"
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || strings.ContainsAny(text, " \t\r\n\\") {
		return "must be a URL such as https://example.com/hook"
	}
	plain := u.Scheme == "http"
	switch {
	case !plain && u.Scheme != "https":
		return refusedPlain
	case u.User != nil:
		return "must not contain a user name or a password"
	case u.Hostname() == "":
		return "must name a host"
	case u.Fragment != "" || strings.Contains(text, "#"):
		return "must not have a fragment, because it would not be sent"
	}
	port, ok := portOf(u)
	if !ok {
		return "must have a port from 1 to 65535, or none"
	}
	return g.checkHost(u.Hostname(), port, plain)
}

// portOf returns the port of a URL. It returns false if the port is malformed.
func portOf(u *url.URL) (uint16, bool) {
	switch {
	case u.Port() != "":
		port, err := strconv.ParseUint(u.Port(), 10, 16)
		return uint16(port), err == nil && port != 0 && u.Port()[0] != '0'
	case strings.HasSuffix(u.Host, ":"):
		return 0, false
	case u.Scheme == "http":
		return 80, true
	}
	return 443, true
}

func (g *Guard) checkHost(host string, port uint16, plain bool) (problem string) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return g.refusal(host, netip.AddrPortFrom(addr, port), plain)
	}
	switch {
	case endsInNumber(host):
		return "must write an address as four decimal numbers, such as 192.0.2.1"
	case !isHostName(host):
		return "must have a host name of letters, digits, hyphens and dots; write others in their xn-- form"
	}
	// A name can have every address, so it is refused only if no address at all would be allowed.
	mayBeAllowed := g.allows(host, netip.AddrPortFrom(netip.Addr{}, port), plain)
	for _, r := range g.allowed {
		mayBeAllowed = mayBeAllowed || r.network.IsValid() && r.fits(port, plain)
	}
	switch {
	case mayBeAllowed:
		return ""
	case plain:
		return refusedPlain
	case !isUsualPort(port):
		return refusedPort
	}
	return ""
}

// endsInNumber reports whether the last label of a host is a number. Some resolvers take such a host for an address: 10.1,
// 0x0a000001 and 167772161 all mean 10.0.0.1.
func endsInNumber(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

const maxHostLength = 253

// isHostName reports whether a host is a name that DNS can have.
func isHostName(host string) bool {
	host = canonicalHost(host)
	if len(host) > maxHostLength {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// canonicalHost returns the same text for all ways to write the name of a host.
func canonicalHost(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }
