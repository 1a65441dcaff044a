package egress

import (
	"net"
	"net/netip"
)

// special lists the addresses that are not on the public Internet, or that lead to others: the registries of special-purpose
// addresses of IANA, multicast, and the addresses at which clouds serve machines their secrets. Of IPv6 it lists only what is
// inside of global, because everything else is refused.
var special = parsePrefixes(
	"0.0.0.0/8",         // this network
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // shared by the customers of a provider
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // the host of a machine of Azure
	"169.254.0.0/16",    // link-local, and the metadata of clouds
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // assignments of the IETF
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // AMT
	"192.88.99.0/24",    // relays of 6to4
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarks
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved, and broadcast
	"2001::/23",         // assignments of the IETF, among them Teredo
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4, which contains addresses of IPv4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
)

// global has all global unicast addresses of IPv6. Outside of it are, among others, loopback, link-local and private addresses,
// multicast, and the mapped and NAT64 forms of addresses of IPv4.
var global = netip.MustParsePrefix("2000::/3")

func parsePrefixes(texts ...string) (prefixes []netip.Prefix) {
	for _, text := range texts {
		prefixes = append(prefixes, netip.MustParsePrefix(text))
	}
	return prefixes
}

// isPublic reports whether an address is an ordinary address of the public Internet.
func isPublic(addr netip.Addr) bool {
	if !addr.Is4() && (addr.Zone() != "" || !global.Contains(addr)) {
		return false
	}
	for _, prefix := range special {
		if prefix.Contains(addr) {
			return false
		}
	}
	return true
}

// isOwn reports whether an address is one of this machine. If the machine cannot tell, all are.
func isOwn(addr netip.Addr) bool {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, network := range own {
		prefix, err := netip.ParsePrefix(network.String())
		if err == nil && prefix.Addr().Unmap() == addr {
			return true
		}
	}
	return false
}
