package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
)

// clientOf returns the address of the client.
func (a *API) clientOf(x *exchange) string {
	if x.address == "" {
		x.address = clientAddress(x.r, a.TrustedProxies)
	}
	return x.address
}

// subjectOf returns the limiter's subject for a request without a valid key: the client's IPv4 address, or the /64
// network of its IPv6 address, because one customer usually has a whole /64.
func (a *API) subjectOf(x *exchange) string {
	client := a.clientOf(x)
	addr, err := netip.ParseAddr(client)
	if err == nil && addr.Is6() {
		network, _ := addr.WithZone("").Prefix(64)
		client = network.String()
	}
	return "address:" + client
}

// clientAddress returns the address of the peer. If the peer is a trusted proxy, clientAddress reads X-Forwarded-For
// from right to left and returns the first address that does not belong to a trusted proxy.
func clientAddress(r *http.Request, trusted []netip.Prefix) string {
	if host, port, _ := strings.Cut(r.RemoteAddr, ":"); len(trusted) == 0 && host != "" && port != "" && host[0] != '[' {
		return host // no proxy is trusted and the address is IPv4, so there is nothing to parse
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
			hop, err := parseHop(strings.TrimSpace(last))
			if err != nil {
				return client.String()
			}
			client = hop.Unmap()
		}
	}
	return client.String()
}

// parseHop parses an entry of X-Forwarded-For, which is an address or, from some proxies, an address with a port. There
// may be brackets around an IPv6 address.
func parseHop(entry string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(entry)
	if err == nil {
		return addr, nil
	}
	if strings.HasSuffix(entry, "]") {
		entry += ":0"
	}
	withPort, err := netip.ParseAddrPort(entry)
	return withPort.Addr(), err
}

// cutLast cuts off the last entry of a list and reports whether other entries are left.
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
