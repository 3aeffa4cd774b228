package run

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"httpgen/client"
)

// lookupTime bounds the resolution of the target's name.
const lookupTime = 10 * time.Second

// target resolves what o asks to connect to. Addresses keep the resolver's
// order.
func target(o *Options) (client.Target, error) {
	if o.Unix != "" {
		return client.Target{Unix: o.Unix}, nil
	}
	ips, err := addresses(o)
	if err != nil {
		return client.Target{}, err
	}
	var t client.Target
	for _, ip := range ips {
		if o.IPv4 && !ip.Is4() || o.IPv6 && !ip.Is6() {
			continue
		}
		t.Addrs = append(t.Addrs, netip.AddrPortFrom(ip, uint16(o.Port)))
	}
	if len(t.Addrs) == 0 {
		return t, fmt.Errorf("server %q has no address of the family asked for (it has %v)", o.Server, ips)
	}
	return t, nil
}

func addresses(o *Options) ([]netip.Addr, error) {
	for _, r := range o.Resolve {
		ips, ok, err := resolved(r, o.Server, o.Port)
		if err != nil {
			return nil, err
		}
		if ok {
			return ips, nil
		}
	}
	if ip, err := netip.ParseAddr(strings.Trim(o.Server, "[]")); err == nil {
		return []netip.Addr{ip.Unmap()}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", o.Server)
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", o.Server, err)
	}
	for i := range ips {
		ips[i] = ips[i].Unmap()
	}
	return ips, nil
}

// resolved reads one host:port:address[,address] and says whether it is about
// that host and port.
func resolved(s, host string, port int) ([]netip.Addr, bool, error) {
	bad := fmt.Errorf("resolve %q: want host:port:address[,address], such as example.org:80:127.0.0.1", s)
	h, rest, ok := strings.Cut(s, ":")
	if strings.HasPrefix(s, "[") {
		// An IPv6 address as the host.
		h, rest, ok = strings.Cut(s[1:], "]:")
	}
	p, list, ok2 := strings.Cut(rest, ":")
	n, err := strconv.ParseUint(p, 10, 16)
	if !ok || !ok2 || h == "" || list == "" || err != nil && p != "*" {
		return nil, false, bad
	}
	var ips []netip.Addr
	for _, a := range strings.Split(list, ",") {
		ip, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(a), "[]"))
		if err != nil {
			return nil, false, bad
		}
		ips = append(ips, ip.Unmap())
	}
	match := (h == "*" || strings.EqualFold(h, host)) && (p == "*" || int(n) == port)
	return ips, match, nil
}

// hostHeader returns the value of the Host header.
func hostHeader(o *Options) string {
	if o.ServerName != "" {
		return o.ServerName
	}
	host := strings.Trim(o.Server, "[]")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if o.Port != o.defaultPort() && o.Unix == "" {
		return host + ":" + strconv.Itoa(o.Port)
	}
	return host
}
