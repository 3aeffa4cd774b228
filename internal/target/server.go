package target

import (
	"net/netip"
	"strconv"
	"sync"
)

// A Server is a running server. Any goroutine may call its methods.
type Server struct {
	loop *loop
	path string // of a unix socket
	addr netip.AddrPort
	dues []Due
	stop sync.Once
}

// Start starts a server. It serves until Stop.
func Start(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	path, addr, err := parseListen(o.Listen)
	if err != nil {
		return nil, err
	}
	l, port, err := startLoop(o, path, addr)
	if err != nil {
		return nil, err
	}
	return &Server{loop: l, path: path, addr: netip.AddrPortFrom(addr.Addr(), uint16(port)), dues: o.dues()}, nil
}

// Addr returns where the server listens, in the form of Options.Listen, with
// the port it got.
func (s *Server) Addr() string {
	if s.path != "" {
		return "unix:" + s.path
	}
	return s.addr.String()
}

// Port returns the port that the server listens on; 0 for a unix socket.
func (s *Server) Port() int { return int(s.addr.Port()) }

// URL returns the URL of the server's root for a client on this machine. For a
// unix socket it is the same as Addr.
func (s *Server) URL() string {
	if s.path != "" {
		return s.Addr()
	}
	host := s.addr.Addr()
	switch host {
	case netip.IPv4Unspecified():
		host = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case netip.IPv6Unspecified():
		host = netip.IPv6Loopback()
	}
	if host.Is6() {
		return "http://[" + host.String() + "]:" + strconv.Itoa(s.Port()) + "/"
	}
	return "http://" + host.String() + ":" + strconv.Itoa(s.Port()) + "/"
}

// Dues returns what the sources of Options.Shares can count on, in their order.
func (s *Server) Dues() []Due { return s.dues }

// Stop ends the server, closes its connections and releases its descriptors.
// It returns what the server did; a second call does nothing but that.
func (s *Server) Stop() Stats {
	s.stop.Do(s.loop.stop)
	return s.Stats()
}

// Stats returns what the server did so far.
func (s *Server) Stats() Stats { return s.loop.stats() }
