package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ParseProxy reads the address of a proxy, or of a network of proxies, for Options.TrustedProxies.
// The text "unix" stands for requests that come by a Unix socket, for which the prefix is the zero
// one.
func ParseProxy(text string) (netip.Prefix, error) {
	if text == "unix" {
		return netip.Prefix{}, nil
	}
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8, nor unix", text)
	}
	return p.Masked(), nil
}

// clientOf returns the address of the client of a request. A trusted proxy says whom it asks for at
// the end of X-Forwarded-For; the part before that may be made up. So the client is the last
// address there that is not of a trusted proxy.
func (s *site) clientOf(r *http.Request) string {
	client, _ := hostAddr(r.RemoteAddr) // not valid for a Unix socket
	if !s.trusted(client) {
		return r.RemoteAddr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		addr, ok := hostAddr(strings.TrimSpace(hops[i]))
		if !ok {
			break // a proxy that can be trusted writes no such thing
		}
		if client = addr; !s.trusted(addr) {
			break
		}
	}
	if !client.IsValid() {
		return r.RemoteAddr
	}
	return client.String()
}

func (s *site) trusted(addr netip.Addr) bool {
	for _, p := range s.options.TrustedProxies {
		if p.Contains(addr) || !addr.IsValid() && !p.IsValid() {
			return true
		}
	}
	return false
}

// hostAddr reads an address, perhaps with a port.
func hostAddr(text string) (netip.Addr, bool) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}, false
	}
	return addr.Unmap().WithZone(""), true
}
