// Package egress decides where the server may send requests that others ask for, and sends them. Without it, whoever may
// name a URL could make the server call the network that the server is in.
//
// A Guard refuses what it can see in a URL when the URL is written. Every connection is checked again, on the address that
// the socket connects to, so a change of DNS after a check has no effect.
package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrRefused is the error of a connection that the rules forbid.
var ErrRefused = errors.New("connecting to this address is not allowed")

// Guard holds the rules: HTTPS to the ports 443 and 8443 of public addresses, and what the operator allows in addition. The
// zero value allows nothing in addition.
type Guard struct {
	// Resolver looks up the names of hosts, and Roots are the certificates that verify receivers. If they are nil, those of
	// the system are used.
	Resolver *net.Resolver
	Roots    *x509.CertPool

	allowed []rule
}

// rule is an entry of the operator's list. It allows connections to a host, if network is invalid, or to the addresses of a
// network.
type rule struct {
	host    string
	network netip.Prefix
	port    uint16 // zero allows every port
	plain   bool   // whether plain HTTP is allowed, too
}

// New returns a Guard that also allows what the entries name: the name of a host, an address or a network in the form
// 10.0.0.0/8. An entry may begin with http://, which allows plain HTTP there, and end in a port, which is the only one that it
// allows.
func New(allow []string) (*Guard, error) {
	g := &Guard{}
	for _, entry := range allow {
		r, err := parseRule(entry)
		if err != nil {
			return nil, fmt.Errorf("%q %w", entry, err)
		}
		g.allowed = append(g.allowed, r)
	}
	return g, nil
}

func parseRule(entry string) (r rule, err error) {
	if strings.HasPrefix(entry, "https://") {
		return r, errors.New("must not begin with https://, which is always allowed; write the host alone")
	}
	host, plain := strings.CutPrefix(entry, "http://")
	r.plain = plain
	if r.network = parseNetwork(host); !r.network.IsValid() {
		if host, r.port, err = splitPort(host); err != nil {
			return r, err
		}
		r.network = parseNetwork(host)
	}
	switch {
	case r.network.IsValid() && r.network.Addr().Is4In6():
		return r, errors.New("must be written as an address or network of IPv4, such as 10.0.0.0/8")
	case r.network.IsValid():
		r.network = r.network.Masked()
		return r, nil
	case host == "":
		return r, errors.New("must name a host, an address or a network")
	case endsInNumber(host) || strings.ContainsAny(host, "/:%"):
		return r, errors.New("must be a host name, an address such as 10.1.2.3 or [fd00::1], or a network such as 10.0.0.0/8, with a port at most")
	case !isHostName(host):
		return r, errors.New("must have a host name of letters, digits, hyphens and dots")
	}
	r.host = canonicalHost(host)
	return r, nil
}

// splitPort cuts the port and the brackets around an address of IPv6 off.
func splitPort(entry string) (host string, port uint16, err error) {
	host = entry
	if i := strings.LastIndexByte(entry, ':'); i > strings.LastIndexByte(entry, ']') {
		n, err := strconv.ParseUint(entry[i+1:], 10, 16)
		if err != nil || n == 0 || entry[i+1] == '+' {
			return "", 0, errors.New("must end in a port from 1 to 65535, or have none; an address of IPv6 with a port needs brackets")
		}
		host, port = entry[:i], uint16(n)
	}
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		host = strings.TrimSuffix(inner, "]")
	}
	return host, port, nil
}

// parseNetwork returns the network that s is, which may be a single address. It is invalid if s is neither.
func parseNetwork(s string) netip.Prefix {
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	network, _ := netip.ParsePrefix(s)
	return network
}

// allows reports whether the operator allows a connection to the host with that name, or to that address.
func (g *Guard) allows(host string, to netip.AddrPort, plain bool) bool {
	return slices.ContainsFunc(g.allowed, func(r rule) bool {
		if r.network.IsValid() {
			return r.network.Contains(to.Addr()) && r.fits(to.Port(), plain)
		}
		return r.host == canonicalHost(host) && r.fits(to.Port(), plain)
	})
}

// fits reports whether the rule allows the port, and plain HTTP if that is used.
func (r rule) fits(port uint16, plain bool) bool {
	return (r.port == 0 || r.port == port) && (r.plain || !plain)
}

// The reasons for refusals, as sentences that follow the name of the field.
const (
	refusedPlain   = "must begin with https://"
	refusedPort    = "must use port 443 or 8443"
	refusedAddress = "must not lead to an address that is private, reserved or the server's own"
)

// refusal returns why the host with that name must not be connected to at that address, or "".
func (g *Guard) refusal(host string, to netip.AddrPort, plain bool) string {
	switch {
	case g.allows(host, to, plain):
		return ""
	case plain:
		return refusedPlain
	case !isUsualPort(to.Port()):
		return refusedPort
	case !isPublic(to.Addr()) || isOwn(to.Addr()):
		return refusedAddress
	}
	return ""
}

func isUsualPort(port uint16) bool { return port == 443 || port == 8443 }

const connectTimeout = 5 * time.Second

// dial returns the function that connects for plain HTTP or for HTTPS.
func (g *Guard) dial(plain bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		dialer := net.Dialer{
			Timeout:  connectTimeout,
			Resolver: g.Resolver,
			Control: func(_, socket string, _ syscall.RawConn) error {
				to, err := netip.ParseAddrPort(socket)
				if err != nil {
					return fmt.Errorf("%w: %q is no address", ErrRefused, socket)
				}
				if problem := g.refusal(host, to, plain); problem != "" {
					return ErrRefused
				}
				return nil
			},
		}
		return dialer.DialContext(ctx, network, address)
	}
}
