package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
)

// clientOf is the address of the client, for the log.
func (a *API) clientOf(x *exchange) string {
	if x.address == "" {
		x.address = clientAddress(x.r, a.TrustedProxies)
	}
	return x.address
}

// subjectOf is the subject for which a request without a valid key is counted: its IPv4 address, or the /64 of its IPv6
// address, which one customer usually holds.
func (a *API) subjectOf(x *exchange) string {
	client := a.clientOf(x)
	addr, err := netip.ParseAddr(client)
	if err == nil && addr.Is6() {
		network, _ := addr.WithZone("").Prefix(64)
		client = network.String()
	}
	return "address:" + client
}

// clientAddress is the address of the peer. If the peer is a trusted proxy, clientAddress reads X-Forwarded-For from
// right to left, and returns the first address that is not a trusted proxy's.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	if host, port, _ := strings.Cut(r.RemoteAddr, ":"); len(trusted) == 0 && host != "" && port != "" && host[0] != '[' {
		return host // an IPv4 address without proxies: nothing to parse
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	client := peer.Addr().Unmap()
	forwarded := r.Header["X-Forwarded-For"]
	for i := len(forwarded) - 1; i >= 0; i-- {
		for hops, more := forwarded[i], true; more; {
			if !isTrusted(client, trusted) {
				return client.String()
			}
			var last string
			hops, last, more = cutLast(hops)
			hop, err := netip.ParseAddr(strings.TrimSpace(last))
			if err != nil {
				return client.String()
			}
			client = hop.Unmap()
		}
	}
	return client.String()
}

// cutLast cuts the last entry off a list, and reports whether others are left.
func cutLast(list string) (others, last string, more bool) {
	comma := strings.LastIndexByte(list, ',')
	return list[:max(0, comma)], list[comma+1:], comma >= 0
}

func isTrusted(addr netip.Addr, trusted []netip.Prefix) bool {
	for _, network := range trusted {
		if network.Contains(addr.WithZone("")) {
			return true
		}
	}
	return false
}
