package metrics

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
)

// An address is one of Options.Listen.
type address struct {
	text string // as it was given
	host string // "" is loopback in both families
	port uint16 // 0 is any free one
}

// parseAddress reads "host:port", ":port" or "port".
func parseAddress(text string) (address, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = "", text
	}
	// A blank or a slash is no part of any host, but of a URL or of a list.
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || strings.ContainsAny(host, " \t\r\n/,") {
		return address{}, fmt.Errorf("address %q: want host:port, with an IPv6 host in brackets, or a port alone for loopback", text)
	}
	return address{text, host, uint16(n)}, nil
}

// listen opens the sockets of an address: one, or one for each family.
func (a address) listen() (all []net.Listener, err error) {
	// A port that is free in one family may be taken in the other.
	for try := 0; try < 10; try++ {
		if a.host == "" {
			all, err = listenLoopback(a.port)
		} else {
			all, err = listenAt(a.host, a.port)
		}
		if err == nil {
			return all, nil
		}
		if a.port != 0 {
			break
		}
	}
	return nil, fmt.Errorf("address %q: %w", a.text, err)
}

func listenAt(host string, port uint16) ([]net.Listener, error) {
	network := "tcp"
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		network = "tcp4" // 0.0.0.0 would be IPv6 too
	}
	l, err := net.Listen(network, net.JoinHostPort(host, strconv.Itoa(int(port))))
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
}

// listenLoopback listens in each family that the machine has, at one port.
func listenLoopback(port uint16) (all []net.Listener, err error) {
	var missing error
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := listenAt(host, port)
		switch {
		case err == nil:
			all = append(all, l...)
			port = uint16(l[0].Addr().(*net.TCPAddr).Port)
		case errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT):
			missing = err
		default:
			closeAll(all)
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, missing
	}
	return all, nil
}

func closeAll(all []net.Listener) {
	for _, l := range all {
		l.Close()
	}
}
